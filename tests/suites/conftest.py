"""Fixtures of other parts that suites need."""

from tests.matrix.conftest import problems_of as problems_of
