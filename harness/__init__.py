"""Builds and runs kernel suites on every target of a matrix, and reports only what was observed."""

__version__ = "0.1.0"
