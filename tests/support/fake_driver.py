#!/usr/bin/env python3
"""A driver as docs/driver.md describes it, whose cases do what their names say.

It touches no device.  `behaviours` beside it (JSON) lists the cases; the last
part of a case's name is what it does when it runs.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CONFIG = json.loads((HERE / "fake_driver.json").read_text())


def record(file, **fields):
    file.write(json.dumps(fields) + "\n")
    file.flush()


def main(arguments):
    if arguments[0] == "--list":
        sys.stdout.write(CONFIG.get("list_output") or json.dumps(listing()))
        return CONFIG.get("list_status", 0)
    if arguments[0] == "--devices":
        sys.stdout.write(
            json.dumps(
                {
                    "schema": 1,
                    "backend": CONFIG["backend"],
                    "status": 0,
                    "status_name": "success",
                    **CONFIG["devices"],
                }
            )
        )
        return 0 if CONFIG["devices"]["devices"] else 77
    if arguments[0] == "--plant":
        sys.stderr.write("ERROR: heap-buffer-overflow\n")
        return CONFIG.get("plant_status", 0)
    case = arguments[arguments.index("--run") + 1]
    path = arguments[arguments.index("--json") + 1] if "--json" in arguments else os.devnull
    return run(case, path, arguments)


def listing():
    cases = [
        {"name": name, "mode": name.split("/")[0], "group": "sweep", "execution": "real", "transactions": 3}
        for name in CONFIG["cases"]
    ]
    return {
        "schema": 1,
        "suite": "fake",
        "backend": CONFIG["backend"],
        "arch": "x86-64",
        "cases": cases,
        "plants": CONFIG.get("plants", []),
    }


def run(case, path, arguments):
    behaviour = case.rsplit("/", 1)[-1].split(".")[0]
    mode = case.split("/")[0]
    if behaviour == "no-device":
        sys.stderr.write("no device: cudaErrorNoDevice (100)\n")
        return 77
    if behaviour == "no-records":
        return 0
    if behaviour == "touch":
        (HERE / "touched.h").write_text("")
    if behaviour == "environment":
        (HERE / "environment.json").write_text(json.dumps(dict(os.environ)))
    nonce = "another" if behaviour == "foreign" else os.environ.get("HARNESS_NONCE", "")
    kind = {"pageable": "unregistered", "half": "page-locked"}.get(behaviour, "page-locked")
    with open(path, "w") as file:
        record(
            file,
            type="begin",
            schema=1,
            case="other" if behaviour == "othercase" else case,
            mode=mode,
            backend=CONFIG["backend"],
            execution="real",
            nonce=nonce,
        )
        for device in CONFIG["devices"]["devices"][:1]:
            record(file, type="device", **{**device, **CONFIG.get("other_devices", {}).get(behaviour, {})})
        record(
            file,
            type="buffer",
            role="staging",
            requested=mode,
            recorded=mode,
            kind=kind,
            kind_before=kind,
            kind_last="unregistered" if behaviour == "half" else kind,
            status=0,
            status_name="success",
            bytes=64,
        )
        for index in range(2 if behaviour == "short" else 3):
            key = 0 if behaviour == "repeated" else index
            record(file, type="transaction", key=f"{case}:{key}", recorded=mode, digests=["00"])
            if behaviour == "segfault" and index == 1:
                os.kill(os.getpid(), signal.SIGSEGV)
            if behaviour == "hang" and index == 1:
                child = subprocess.Popen(["sleep", "1000"])
                (HERE / "hanging").write_text(f"{os.getpid()} {child.pid}")
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
            if behaviour == "garbage" and index == 1:
                file.write("\x00\xff this is not JSON\n")
            if behaviour == "slow":
                time.sleep(float(CONFIG.get("slow_s", 0.2)))
        if behaviour == "verbose":
            for _ in range(64):
                sys.stdout.write("x" * (1 << 20))
        if behaviour == "cut":
            file.write('{"type": "end", "transac')
            return 0
        if behaviour == "noend":
            return 0
        failed = 1 if behaviour == "mismatch" else 0
        if failed:
            record(
                file,
                type="mismatch",
                key=f"{case}:1",
                tensor=0,
                row=4,
                column=2,
                expected="0x3c00",
                got="0x0000",
                text="pos=0 q=1 accepted=0 tensor=0 row=4 column=2 expected=0x3c00 got=0x0000",
            )
        record(
            file, type="end", transactions=2 if behaviour == "short" else 3, failed=failed, mismatches=failed
        )
    if behaviour == "sanitizer":
        sys.stderr.write("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n")
        return 98
    if behaviour == "status3":
        return 3
    if behaviour == "lying":
        return 1
    return failed


sys.exit(main(sys.argv[1:]))
