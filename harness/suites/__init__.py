"""Suite kinds: how a suite is listed, run and read, one file or folder a kind."""
