"""Witnesses: each observes one thing about a claim by one route, and says only what it saw."""
