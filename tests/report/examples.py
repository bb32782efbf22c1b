"""Runs as they happen, judged by the real judge: what the reports are looked at and compared on.

`python -m tests.report.examples` writes the golden files again; read the
difference before it is committed.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import claims
from harness.claims import Claim, claims_of
from harness.evidence.model import (
    BuildRecord,
    CaseRecord,
    DeviceRecord,
    Evidence,
    Finding,
    HostRecord,
    NotRun,
    Observation,
    Revision,
    State,
    ToolchainRecord,
)
from harness.evidence.rows import Observed, Row
from harness.evidence.store import LaneRecord
from harness.judge.verdicts import judge_lane, qualification_of
from harness.matrix.lanes import Lane, all_lanes, matrix_entry_digest
from harness.matrix.model import Matrix
from harness.report import as_json, markdown, terminal_summary
from harness.witness import absent
from harness.words import Backend, CopyMode, Execution, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from harness.judge.qualification import Qualification

GOLDEN = Path(__file__).parent / "golden"
FOLDER = Path("reports/runs/20261201T120000Z-4016ea")
REVISION = Revision(commit="1943f738cdd4" + "0" * 28, tree="b" * 40)
NOW = dt.datetime(2026, 12, 1, 12, 5, tzinfo=dt.UTC)

MATRIX = Matrix.model_validate(
    {
        "version": 1,
        "targets": {
            "rtx3090": {"backend": "cuda", "arch": "sm_86", "device": {"name": "NVIDIA GeForce RTX 3090"}},
            "h200": {
                "backend": "cuda",
                "arch": "sm_90",
                "device": {"name": "NVIDIA H200*"},
                "required": False,
            },
            "r9700": {"backend": "hip", "arch": "gfx1201", "device": {"name": "AMD Radeon AI PRO R9700"}},
            "strix-halo": {"backend": "hip", "arch": "gfx1151", "device": {"name": "AMD Radeon 8060S*"}},
            "cpu-sanitize": {
                "backend": "cpu",
                "sanitizers": {"on": ["address", "undefined"], "off": ["vptr", "leak"]},
            },
        },
        "suites": {
            "ds4-rollback": {
                "kernels": "kernels/ds4_rollback",
                "copy_modes": {
                    "cuda": ["sync", "async", "pinned"],
                    "hip": ["sync", "async", "pinned"],
                    "cpu": ["sync", "async"],
                },
                "establish": {"transactions_per_copy_mode": 3456, "pinned": "verified"},
            }
        },
        "expected_skips": [
            {"lane": "*/ds4-rollback", "case": "*two_devices", "reason": "needs two devices of a kind"}
        ],
        "not_claimed": ["throughput", "whole-model token parity"],
    }
)
LANES = {lane.target_name: lane for lane in all_lanes(MATRIX)}

_WIDTHS = range(1, 9)
_NAMES = {
    "rtx3090": "NVIDIA GeForce RTX 3090",
    "h200": "NVIDIA H200",
    "r9700": "AMD Radeon AI PRO R9700",
    "strix-halo": "AMD Radeon 8060S",
    "cpu-sanitize": "AMD EPYC",
}
_TOOLCHAINS = {
    Backend.CUDA: ("nvcc", "13.0.88", "-O2 -std=c++17 --generate-code=arch={code},code=[{arch}]"),
    Backend.HIP: ("clang-hip", "22.1.8", "-O2 -std=c++17 --offload-arch={arch}"),
    Backend.CPU: ("g++", "12.2.0", "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"),
}


def _arch(lane: Lane) -> str:
    return lane.target.arch or "x86-64"


def _build(lane: Lane) -> BuildRecord:
    kind, version, flags = _TOOLCHAINS[lane.target.backend]
    arch = _arch(lane)
    return BuildRecord(
        toolchain=ToolchainRecord(kind=kind, compiler=f"/usr/bin/{kind}", version=version, origin="PATH"),
        driver=f".harness/build/{lane.target_name}/driver",
        sha256="e" * 64,
        flags=tuple(flags.format(arch=arch, code=arch.replace("sm", "compute")).split()),
        architectures=(arch,),
        rebuilt=True,
        seconds=20.0,
        log="build.log",
    )


def _execution(lane: Lane, mode: CopyMode) -> Execution:
    imitated = lane.target.backend is Backend.CPU and mode is CopyMode.ASYNC
    return Execution.EMULATED if imitated else Execution.REAL


def _cases(lane: Lane) -> tuple[CaseRecord, ...]:
    return tuple(
        CaseRecord(
            name=f"{mode}/width{width}",
            mode=mode,
            group="sweep",
            execution=_execution(lane, mode),
            transactions=432,
        )
        for mode in lane.copy_modes
        for width in _WIDTHS
    )


def _row(lane: Lane, case: CaseRecord) -> Row:
    memory = {CopyMode.PINNED: "page-locked"}.get(case.mode or CopyMode.SYNC, "pageable")
    if lane.target.backend is Backend.CPU:
        memory = "not-asked"
    observed = Observed(mode=case.mode, group=case.group, execution=case.execution, memory_kind=memory)
    return Row(lane.id, case.name, Outcome.PASSED, observed=observed)


_TEXTS: dict[str, str] = {
    claims.RUNTIME: "every row ran on {name} ({arch})",
    claims.ONE_AT_A_TIME: "no two cases ran at the same time",
    claims.SYSTEM: "the kernel calls this machine {arch}",
    claims.BINARY: "the binary holds code for {arch}",
    claims.CENSUS: "all 18 objects and the program are instrumented",
    claims.PLANTED: "3 planted defects were reported (heap-out-of-bounds, use-after-free, overflow)",
    claims.POINTER: "first and last byte page-locked before and after the copies, in 8 rows",
    claims.DRIVER: "driver: 3,456 distinct transactions",
    claims.ORACLE: "oracle: 3,456 distinct transactions",
    claims.LOADED: "the code object for {arch} was loaded",
    claims.COPY_RECORD: "every copy is recorded as one of page-locked memory",
    claims.CANARY: "pageable memory that was claimed as page-locked was rejected",
}


def _saw(
    lane: Lane, claim: Claim, witness: str, finding: Finding = Finding.CONFIRMS, text: str = ""
) -> Observation:
    text = text or _TEXTS[witness].format(name=_NAMES[lane.target_name], arch=_arch(lane))
    emulated = bool(claim.subject) and claim.least is not None
    return Observation(
        claim=claim.name,
        subject=claim.subject,
        witness=witness,
        finding=finding,
        text=text,
        value=claim.least,
        execution=_execution(lane, CopyMode(claim.subject)) if emulated else Execution.REAL,
    )


def observations(lane: Lane, without: Iterable[str] = ()) -> tuple[Observation, ...]:
    """What the witnesses of a lane see when all is well, less some of the witnesses."""
    return tuple(
        _saw(lane, claim, witness)
        for claim in claims_of(lane)
        for witness in claim.witnesses
        if claim.name != claims.FRESH and witness not in without
    )


def evidence(lane: Lane, **changes: Any) -> Evidence:
    """The evidence of a lane that ran and in which all is well."""
    gpu = lane.target.backend is not Backend.CPU
    device = DeviceRecord(
        source="runtime",
        backend=lane.target.backend,
        name=_NAMES[lane.target_name],
        arch=_arch(lane),
        pci="0000:01:00.0" if gpu else None,
        driver_version="580.95" if lane.target.backend is Backend.CUDA else None,
        runtime_version="13.0" if lane.target.backend is Backend.CUDA else None,
    )
    known = {
        "harness_version": "0.1.0",
        "run": FOLDER.name,
        "target": lane.target_name,
        "suite": lane.suite_name,
        "nonce": "n",
        "state": State.FINISHED,
        "revision": REVISION,
        "matrix_entry": matrix_entry_digest(lane),
        "inputs": {f"kernels/{number}.h": "f" * 64 for number in range(36)},
        "build": _build(lane),
        "devices": (device,),
        "host": HostRecord(system="Linux", release="6.1", machine="x86_64", python="3.11"),
        "planned": _cases(lane),
        "observations": observations(lane),
        "exit_status": 0,
        "started": NOW - dt.timedelta(minutes=5),
        "ended": NOW - dt.timedelta(minutes=4, seconds=35),
    }
    return Evidence.model_validate({**known, **changes})


def ran(lane: Lane, *, rows: Sequence[Row] | None = None, **changes: Any) -> LaneRecord:
    """A record of a lane that ran."""
    found = evidence(lane, **changes)
    return LaneRecord(
        found,
        rows=[_row(lane, case) for case in found.planned] if rows is None else rows,
        folder=f"lanes/{lane.id}",
    )


def not_run(lane: Lane) -> LaneRecord:
    """A record of a lane that was built where its device is not."""
    backend = lane.target.backend.upper()
    native = claims_of(lane)[1]
    return ran(
        lane,
        rows=(),
        not_run=NotRun.NO_DEVICE,
        reason=f"built for {lane.target.arch}, no {backend} device here",
        devices=(),
        planned=(),
        observations=(*absent(lane), _saw(lane, native, claims.BINARY)),
        exit_status=None,
    )


def judged(records: dict[str, LaneRecord]) -> Qualification:
    """Judge records by target, under the names of their lanes."""
    lanes = [
        judge_lane(lane, records.get(target), MATRIX.expected_skips, revision=REVISION, now=NOW)
        for target, lane in LANES.items()
    ]
    return qualification_of(
        MATRIX,
        lanes,
        revision=REVISION,
        run=FOLDER.name,
        now=NOW,
        harness_version="0.1.0",
    )


GPUS = ("rtx3090", "h200", "r9700", "strix-halo")


def _gpus_not_run() -> dict[str, LaneRecord]:
    return {target: not_run(LANES[target]) for target in GPUS}


def fresh_machine() -> Qualification:
    """No GPU: the CPU lane is qualified, the others are built and were not run."""
    return judged({**_gpus_not_run(), "cpu-sanitize": ran(LANES["cpu-sanitize"])})


def no_compilers() -> Qualification:
    """Neither a GPU nor a compiler for one."""
    records = {}
    for target in GPUS:
        tool = "nvcc" if LANES[target].target.backend is Backend.CUDA else "clang with HIP headers"
        records[target] = ran(
            LANES[target],
            rows=(),
            not_run=NotRun.NO_TOOLCHAIN,
            reason=f"not built: there is no {tool}",
            ended=NOW - dt.timedelta(minutes=5),
            hint=f"install-{tool.split()[0]}",
            build=None,
            devices=(),
            planned=(),
            observations=(),
            inputs={},
            exit_status=None,
        )
    return judged({**records, "cpu-sanitize": ran(LANES["cpu-sanitize"])})


def defect_in_restore() -> Qualification:
    """A line of the restore code is wrong: every width of both modes of the CPU lane sees it."""
    lane = LANES["cpu-sanitize"]
    rows = []
    for row, case in zip((_row(lane, case) for case in _cases(lane)), _cases(lane), strict=True):
        width = int(case.name[-1])
        if width < 3:
            rows.append(row)
            continue
        key = f"pos=0 q={width} accepted=1"
        commands = (
            f"nox -s cpu-sanitize -- --case '{case.name}'",
            f".harness/build/cpu-sanitize/driver --run {case.name} --only {case.name}:1",
        )
        rows.append(
            Row(
                lane.id,
                case.name,
                Outcome.FAILED,
                message=f"{key} tensor=2 row=0 column=0 expected=0x5bc1 got=0x0ef4 (96 of 432 differ)",
                observed=row.observed.model_copy(update={"first_failure": key, "reproduce": commands}),
            )
        )
    short = tuple(
        o.model_copy(update={"value": 864, "text": o.text.replace("3,456", "864")})
        if o.claim == claims.COVERAGE
        else o
        for o in observations(lane)
    )
    return judged(
        {**_gpus_not_run(), "cpu-sanitize": ran(lane, rows=rows, exit_status=1, observations=short)}
    )


def everything_qualified() -> Qualification:
    """Every device is at hand and every witness was heard; one case is skipped as expected."""
    records = {target: ran(lane) for target, lane in LANES.items()}
    lane = LANES["strix-halo"]
    extra = CaseRecord(
        name="sync/two_devices", mode=None, group="other", execution=Execution.REAL, transactions=0
    )
    rows = [_row(lane, case) for case in _cases(lane)]
    rows.append(Row(lane.id, extra.name, Outcome.SKIPPED, message="one device found"))
    records["strix-halo"] = ran(lane, rows=rows, planned=(*_cases(lane), extra))
    return judged(records)


def gpu_with_open_claims() -> Qualification:
    """Two GPUs ran, and no witness of this version looks at what was loaded and copied."""
    missing = (claims.SYSTEM, claims.LOADED, claims.COPY_RECORD, claims.CANARY)
    records = {
        target: ran(
            LANES[target],
            observations=(*absent(LANES[target]), *observations(LANES[target], without=missing)),
        )
        for target in ("rtx3090", "r9700")
    }
    return judged({**_gpus_not_run(), **records, "cpu-sanitize": ran(LANES["cpu-sanitize"])})


def interrupted() -> Qualification:
    """Ctrl-C in the CPU lane, and a GPU lane whose process was killed."""
    lane, dead = LANES["cpu-sanitize"], LANES["rtx3090"]
    return judged(
        {
            **_gpus_not_run(),
            "rtx3090": ran(dead, rows=(), state=State.RUNNING, exit_status=None, ended=None, observations=()),
            "cpu-sanitize": ran(
                lane,
                rows=[_row(lane, case) for case in _cases(lane)[:11]],
                state=State.INTERRUPTED,
                exit_status=2,
                observations=tuple(o for o in observations(lane) if o.claim != claims.COVERAGE),
            ),
        }
    )


def damaged() -> Qualification:
    """A lane's evidence is cut short, another's runner was killed, a third copied pageable memory."""
    r9700, strix = LANES["r9700"], LANES["strix-halo"]
    pinned = next(claim for claim in claims_of(strix) if claim.name == claims.PINNED)
    denial = _saw(strix, pinned, claims.POINTER, Finding.DENIES, "pinned/width3 used pageable memory")
    return judged(
        {
            **_gpus_not_run(),
            "rtx3090": LaneRecord(
                None,
                damage="evidence.json: damaged or of another version: file: Invalid JSON: EOF while parsing",
                folder="lanes/rtx3090/ds4-rollback",
            ),
            "r9700": ran(r9700, exit_status=-9),
            "strix-halo": ran(strix, observations=(*observations(strix), denial)),
            "cpu-sanitize": ran(LANES["cpu-sanitize"]),
        }
    )


def one_lane_of_many() -> Qualification:
    """A person ran the CPU lane alone."""
    return judged({"cpu-sanitize": ran(LANES["cpu-sanitize"])})


EXAMPLES: dict[str, Callable[[], Qualification]] = {
    example.__name__: example
    for example in (
        fresh_machine,
        no_compilers,
        defect_in_restore,
        everything_qualified,
        gpu_with_open_claims,
        interrupted,
        damaged,
        one_lane_of_many,
    )
}

WITH_JSON = ("fresh_machine", "defect_in_restore")
"""The JSON form is the model itself; two examples hold its shape."""


def forms(name: str) -> dict[str, str]:
    """The text of an example's golden files by name of the file."""
    found = EXAMPLES[name]()
    texts = {
        f"{name}.md": markdown(found),
        f"{name}.txt": terminal_summary(found, FOLDER, width=80, color=False),
    }
    if name in WITH_JSON:
        texts[f"{name}.json"] = as_json(found)
    return texts


def main() -> None:
    """Write every golden file."""
    for name in EXAMPLES:
        for file, text in forms(name).items():
            (GOLDEN / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
