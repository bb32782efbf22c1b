"""JUnit files: reading what runners wrote, and writing one merged file in which no two rows collide."""

from harness.junit.read import DamagedReportError, read_junit
from harness.junit.write import merged, write

__all__ = ["DamagedReportError", "merged", "read_junit", "write"]
