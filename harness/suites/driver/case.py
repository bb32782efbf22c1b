"""Running one case of a driver and deciding, from what was observed, what became of it."""

from __future__ import annotations

import importlib.util
import shlex
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness.evidence.model import DeviceRecord
from harness.evidence.rows import SWEEP, Observed
from harness.suites.driver.ask import NO_DEVICE
from harness.suites.driver.records import Record, RecordsError, read_records
from harness.system import process

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from harness.evidence.model import CaseRecord
    from harness.oracle import Difference, Verification


class CaseSkippedError(Exception):
    """The driver said that it has no device."""


class CaseFailedError(Exception):
    """The case failed: a headline for the row's message, and everything else for its text."""

    def __init__(self, headline: str, details: str = "") -> None:
        super().__init__(headline)
        self.headline = headline
        self.details = details


@dataclass(frozen=True, slots=True)
class CaseRun:
    """How to run one case: the driver, its environment, and where what it leaves goes."""

    case: CaseRecord
    driver: Path
    device: str | None
    environment: Mapping[str, str]
    timeout_s: float
    nonce: str
    oracle: Path | None
    folder: Path
    root: Path

    @property
    def records(self) -> Path:
        """The driver's record file."""
        return self.folder / f"{self.case.name}.jsonl"

    @property
    def keys(self) -> Path:
        """Keys of the transactions that the driver completed without a mismatch, one a line."""
        return self.folder / f"{self.case.name}.keys"

    def command(self, *options: str) -> list[str]:
        """The driver's command line for this case."""
        device = ["--device", self.device] if self.device is not None else []
        return [str(self.driver), "--run", self.case.name, *device, *options]

    def shell(self, *options: str) -> str:
        """The same as a line for a shell in the project's folder, with the variables that matter."""
        names = sorted(name for name in self.environment if name.endswith("SAN_OPTIONS"))
        variables = [f"{name}={shlex.quote(self.environment[name])}" for name in names]
        program, *rest = self.command(*options)
        if self.driver.is_relative_to(self.root):
            program = f"./{self.driver.relative_to(self.root)}"
        return " ".join([*variables, shlex.join([program, *rest])])


@dataclass(slots=True)
class CaseReport:
    """What was observed while a case ran; it grows, so that a failure keeps what came before it."""

    observed: Observed = field(default_factory=Observed)

    def note(self, **seen: object) -> None:
        """Add what was seen, by the fields of `Observed`."""
        self.observed = Observed.model_validate({**dict(self.observed), **seen})


@dataclass(frozen=True, slots=True)
class _Observed:
    """The records of one case, by type."""

    device: DeviceRecord | None
    buffers: tuple[Record, ...]
    transactions: tuple[Record, ...]
    mismatches: tuple[Record, ...]
    end: Record | None


def run_case(run: CaseRun, report: CaseReport) -> None:
    """Run one case to its end.

    Adds observations to `report` as they come.  Raises CaseFailedError or
    CaseSkippedError; returns if driver, oracle and plan agree that it passed.
    """
    run.records.parent.mkdir(parents=True, exist_ok=True)
    for stale in (run.records, run.keys):
        stale.unlink(missing_ok=True)
    output = run.folder / f"{run.case.name}.out"
    report.note(
        mode=run.case.mode, group=run.case.group, execution=run.case.execution, started=time.monotonic()
    )
    try:
        ended = process.run(
            run.command("--json", str(run.records)),
            output=output,
            environment={**run.environment, "HARNESS_NONCE": run.nonce},
            timeout_s=run.timeout_s,
        )
    except OSError as error:
        raise CaseFailedError(f"{run.driver}: cannot be started: {error.strerror}") from error
    report.note(ended=time.monotonic(), exit_status=ended.status)
    said = process.tail(output)
    if ended.status == NO_DEVICE:
        raise CaseSkippedError(said.strip() or "the driver found no device")
    observed, damage = _read(run)
    if observed is not None:
        _note_observations(observed, report)
    if ended.timed_out or ended.status not in (0, 1) or observed is None or observed.end is None or damage:
        report.note(reproduce=[run.shell()])
        raise CaseFailedError(_crash_headline(ended, said, observed, damage), said)
    _check_driver(run, ended, observed, said, report)
    _check_oracle(run, observed, report)


def _read(run: CaseRun) -> tuple[_Observed | None, str]:
    """Read what the driver wrote, as far as it is readable; the second value says what is not."""
    records: list[Record] = []
    damage = ""
    try:
        records.extend(read_records(run.records))
    except RecordsError as error:
        damage = str(error)
        records = list(_readable(run.records))
    if not records:
        return None, damage
    by_type: dict[str, list[Record]] = {}
    for record in records:
        by_type.setdefault(record["type"], []).append(record)
    begin = by_type.get("begin", [{}])[0]
    if not damage and begin.get("nonce") != run.nonce:
        damage = "the records are of another run: their nonce differs"
    elif not damage and begin.get("case") != run.case.name:
        damage = f"the records are of another case: {begin.get('case')!r}"
    device = None
    try:
        device = _device(begin, by_type.get("device", []))
    except RecordsError as error:
        damage = damage or str(error)
    observed = _Observed(
        device=device,
        buffers=tuple(by_type.get("buffer", ())),
        transactions=tuple(by_type.get("transaction", ())),
        mismatches=tuple(by_type.get("mismatch", ())),
        end=by_type.get("end", [None])[-1],
    )
    return observed, damage


def _device(begin: Record, records: list[Record]) -> DeviceRecord | None:
    """The device that the process ran on; raises RecordsError if it is not what docs/driver.md describes."""
    if not records:
        return None
    try:
        return DeviceRecord.model_validate(
            {
                **{name: value for name, value in records[0].items() if name in DeviceRecord.model_fields},
                "source": "runtime",
                "backend": begin.get("backend"),
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordsError(
            f"the device record is not as docs/driver.md wants it: {where} {first['msg']}"
        ) from None


def _readable(path: Path) -> list[Record]:
    records: list[Record] = []
    try:
        for record in read_records(path):
            records.append(record)  # noqa: PERF402 - keeps what came before the damage
    except RecordsError:
        pass
    return records


def _note_observations(observed: _Observed, report: CaseReport) -> None:
    recorded = sorted({str(record.get("recorded")) for record in (*observed.buffers, *observed.transactions)})
    report.note(
        device=observed.device,
        memory_kind=memory_kind(observed.buffers),
        recorded_mode=", ".join(recorded),
        transactions=len(observed.transactions),
    )


def memory_kind(buffers: tuple[Record, ...]) -> str:
    """Reduce what the runtime said of all staging buffers of a case to one word.

    A kind is given only if the first and the last byte of every buffer had it
    after the last copy, and the first byte before the first copy.
    """
    if not buffers:
        return "no staging buffer"
    kinds = {str(b.get(name, "unknown")) for b in buffers for name in ("kind_before", "kind", "kind_last")}
    return kinds.pop() if len(kinds) == 1 else f"mixed: {', '.join(sorted(kinds))}"


def _crash_headline(ended: process.Ended, said: str, observed: _Observed | None, damage: str) -> str:
    sanitizer = next(
        (line for line in said.splitlines() if "ERROR: " in line or "runtime error:" in line), ""
    )
    if sanitizer:
        return f"the driver {ended.text}: {sanitizer.strip()}"
    last = [line.strip() for line in said.splitlines() if line.strip()]
    if ended.timed_out or ended.status not in (0, 1):
        reached = f" after {len(observed.transactions)} transactions" if observed is not None else ""
        return f"the driver {ended.text}{reached}" + (f": {last[-1]}" if last else "")
    return f"the driver {ended.text}, but {damage or 'its records have no end'}"


def _check_driver(
    run: CaseRun, ended: process.Ended, observed: _Observed, said: str, report: CaseReport
) -> None:
    """Driver's exit status, its own counts and the plan must agree."""
    end = observed.end or {}
    done, distinct = len(observed.transactions), len({record.get("key") for record in observed.transactions})
    if observed.mismatches or ended.status == 1:
        first = observed.mismatches[0] if observed.mismatches else {}
        only = ["--only", str(first["key"])] if "key" in first else []
        if "key" in first:
            report.note(first_failure=str(first["key"]))
        report.note(reproduce=[run.shell(*only)])
        headline = str(first.get("text") or _last_line(said) or "the driver failed and did not say why")
        raise CaseFailedError(
            f"{headline} ({end.get('failed', '?')} of {end.get('transactions', '?')} transactions differ)",
            "\n".join([*(str(m.get("text")) for m in observed.mismatches), said]).strip(),
        )
    if not done == distinct == end.get("transactions") == run.case.transactions:
        report.note(reproduce=[run.shell()])
        raise CaseFailedError(
            f"{run.case.transactions} transactions were planned, the driver counted "
            f"{end.get('transactions')}, its records hold {done} of which {distinct} are distinct"
        )
    if run.case.group == SWEEP:
        # Not synchronised: a file that a crash of the machine cut short counts less, never more.
        run.keys.write_text("".join(f"{record['key']}\n" for record in observed.transactions))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _check_oracle(run: CaseRun, observed: _Observed, report: CaseReport) -> None:
    if run.oracle is None:
        return
    oracle = load_oracle(run.oracle)
    try:
        verification: Verification = oracle.verify(run.case.name, observed.transactions)
    except Exception as error:
        report.note(reproduce=[run.shell()])
        raise CaseFailedError(
            f"the oracle cannot read the driver's records: {type(error).__name__}: {error}"
        ) from error
    report.note(oracle_transactions=verification.transactions)
    if not verification.agrees:
        first = verification.first
        headline = _explain(run, first, report) if first is not None else "the oracle disagrees"
        raise CaseFailedError(
            f"{headline} (the oracle disagrees in {verification.differing} of {verification.transactions} "
            "transactions; the driver's own reference did not)"
        )


def _explain(run: CaseRun, first: Difference, report: CaseReport) -> str:
    """Run just the differing transaction again and ask the oracle for the byte."""
    shown = run.shell("--only", first.key, "--dump", "--json", "/dev/stdout")
    report.note(first_failure=first.key, reproduce=[shown])
    again = run.folder / f"{run.case.name}.state.jsonl"
    process.run(
        run.command("--only", first.key, "--dump", "--json", str(again)),
        output=run.folder / f"{run.case.name}.state.out",
        environment={**run.environment, "HARNESS_NONCE": run.nonce},
        timeout_s=run.timeout_s,
    )
    state = next((record for record in _readable(again) if record["type"] == "state"), None)
    if state is None or run.oracle is None:
        return first.text
    answer: Difference = load_oracle(run.oracle).explain(run.case.name, state)
    return answer.text


@cache
def load_oracle(path: Path) -> ModuleType:
    """Import a suite's `oracle.py` under a name of its own; raises CaseFailedError if that fails."""
    name = f"harness_oracle_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CaseFailedError(f"{path}: not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise CaseFailedError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module
