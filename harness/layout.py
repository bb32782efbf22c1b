"""Names of the folders that this program writes at the top of a project."""

REPORTS = "reports"
"""What runs leave."""

CACHE = ".harness"
"""Build trees and toolchains that are kept between runs."""

OWN_OUTPUT = (CACHE, REPORTS, ".nox", ".venv")
"""Folders at the top of a project that are never a part of its source."""
