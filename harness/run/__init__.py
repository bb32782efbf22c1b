"""Running lanes: processes, devices and the pytest run inside each lane."""
