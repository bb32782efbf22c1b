"""Verdicts: what was recorded, held against what the matrix asks for.  Touches nothing."""
