"""Sessions of this project: the lanes of matrix.yaml, their report, and the checks of the program itself."""

from __future__ import annotations

import nox

from harness.sessions import register

register("matrix.yaml")

CONSTRAINTS = ("-c", "constraints.txt")


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run the tests of the program; arguments after -- go to pytest."""
    session.install(*CONSTRAINTS, "-e", ".[tests]")
    # The tests start runs of their own, which must not join this one.
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env={"HARNESS_RUN": None})


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check format, style and types, and that generated files are current."""
    session.install(*CONSTRAINTS, "-e", ".[lint]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy", "harness", "noxfile.py", "tests", "kernels", "benchmarks")
    session.run("python", "-m", "harness.schema", "--check")
