"""What is asked of the operating system: files that are whole, processes that leave nothing behind."""
