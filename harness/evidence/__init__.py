"""What is kept of a run: its model, its folders, the revision it belongs to."""
