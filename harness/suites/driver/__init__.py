"""Suites whose cases are run by a driver, the executable of docs/driver.md."""
