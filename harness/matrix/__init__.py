"""What is wanted: `matrix.yaml` from its text to a checked model and its lanes."""
