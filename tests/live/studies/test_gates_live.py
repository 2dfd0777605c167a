"""Real runs that gates make invalid: what each gate looks for is made to happen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from group_files import directory, of_version
from study_process import in_a_run, insist_nothing_left, under_way

from dunnage import catalog
from dunnage.errors import ExitCode
from dunnage.generators.engine import EngineGenerator
from dunnage.hosts.control_groups.groups import TOP
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.load import Command, LoadOrder
from dunnage.model.record import Record
from dunnage.store.read import Result, open_result
from in_process import typed_here

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}}}
database: {{kind: redis, topology: single, members: 1}}
deployments:
  native: {{platform: native}}
workloads: [C]
records: 1000
load: {{threads: [32], warmup: 500ms, duration: 4s}}
blocks: 1
deadline: 30s
patience: 0s
sampler: {{rate: 5Hz}}
"""
MEBIBYTE = 2**20


@pytest.fixture
def study(tmp_path: Path) -> tuple[str, Path]:
    """One run of a single Redis, under a name of its own."""
    name, path = f"gates-{uuid.uuid4().hex[:8]}", tmp_path / "study.yaml"
    path.write_text(STUDY.format(name=name))
    return name, path


def the_run(result: Result) -> Record:
    """The only run, which was made to its end and is invalid."""
    (record,) = result.records
    assert record.status is Status.INVALID
    return record


def judged(record: Record, gate: str) -> CheckResult:
    """What a gate says of a run."""
    (found,) = (each for each in record.checks if each.check == gate)
    return found


def reading(found: CheckResult, what: str) -> Reading:
    """One thing that a gate saw."""
    (seen,) = (each for each in found.seen if each.what == what)
    return seen


def test_a_sampler_that_stands_still_for_half_of_a_run_makes_it_invalid(
    study: tuple[str, Path],
) -> None:
    with under_way(*study, in_a_run) as running:
        sampler = running.until(lambda: running.member("/db-1/watch/watch.json"))
        os.kill(sampler, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(sampler, signal.SIGCONT)
        assert running.wait() == ExitCode.UNTRUSTWORTHY, running.said
    found = judged(the_run(running.result()), "samples")
    assert (found.status, found.why) == (Status.INVALID, Why.INCOMPLETE)
    assert {each.where for each in found.seen} == {"db-1"}
    samples, expected = (float(reading(found, each).value) for each in ("samples", "expected"))
    assert 0 < samples < expected


@contextmanager
def swap_space(size: int) -> Iterator[None]:
    """More swap space on this machine's disk for a moment."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
        for command in ("mkswap", "swapon"):
            done = subprocess.run([command, file.name], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        try:
            yield
        finally:
            subprocess.run(["swapoff", file.name], check=True)


@contextmanager
def short_of_memory(lab: str, host: str) -> Iterator[None]:
    """Leave a host seven eighths of the memory that its processes have and no file stands for."""
    group = directory(f"{TOP}/{lab}/{host}", "memory")
    limit = group / of_version("memory.limit_in_bytes", "memory.max")
    held = anonymous(group, of_version("total_rss", "anon"))
    with suppress(OSError):  # the kernel tells that it has not got there yet
        limit.write_text(str(held * 7 // 8))
    yield
    with suppress(FileNotFoundError):  # the study has ended
        limit.write_text(of_version("-1", "max"))


def anonymous(group: Path, name: str) -> int:
    """Bytes of a control group's anonymous memory, by the name that its kernel has for them."""
    lines = (line.split() for line in (group / "memory.stat").read_text().splitlines())
    return next(int(value) for counter, value in lines if counter == name)


@pytest.mark.quiet  # all of the machine may swap meanwhile
@pytest.mark.proof
def test_memory_of_a_database_host_on_disk_makes_a_run_invalid(
    study: tuple[str, Path], record_property: Callable[[str, object], None]
) -> None:
    name, path = study
    # So many that the kernel finds some that nobody reads just then.
    path.write_text(path.read_text().replace("records: 1000", "records: 50000"))
    with swap_space(256 * MEBIBYTE), under_way(name, path, in_a_run) as running:
        lab = running.until(running.lab)
        time.sleep(1.5)
        with short_of_memory(lab, "db-1"):
            time.sleep(1.0)
        assert running.wait() == ExitCode.UNTRUSTWORTHY, running.said
    found = judged(the_run(running.result()), "swap")
    assert (found.status, found.why) == (Status.INVALID, Why.MEASURED)
    swapped = reading(found, "swap")
    assert swapped.where == "db-1"
    assert float(swapped.value) >= MEBIBYTE
    record_property("seen", f"{float(swapped.value) / MEBIBYTE:.1f} MiB of db-1 were on disk")


SLOW = """
import ctypes, os, struct, sys
LOAD, DIVIDE, RETURN = 0x20, 0x34, 0x06
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, ARGUMENT = 0x7FFF0000, 16
steps = [(LOAD, ARGUMENT), *[(DIVIDE, 1)] * 4000, (RETURN, ALLOW)]
code = b"".join(struct.pack("HBBI", step, 0, 0, value) for step, value in steps)

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

kernel = ctypes.CDLL(None, use_errno=True)
assert kernel.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
for _ in range(2):
    program = Program(len(steps), code)
    done = kernel.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    assert done == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a program whose system calls all take as long as eight thousand divisions more.

Nothing faster than that is slow enough: a Redis takes longer for an operation than the engine does.
The filter looks at an argument, or the kernel would remember what it always says.
"""
PYTHON = str(Path(sys.executable).resolve())


class OnASlowClient(EngineGenerator):
    """The engine on a client whose kernel takes long."""

    def commands(
        self, order: LoadOrder, engine: str, directories: Sequence[str]
    ) -> tuple[Command, ...]:
        made = super().commands(order, engine, directories)
        return tuple(replace(each, argv=(PYTHON, "-c", SLOW, *each.argv)) for each in made)


@pytest.mark.quiet  # a client that waits for a processor is not busy
@pytest.mark.proof
def test_a_client_that_is_slower_than_its_database_makes_a_run_invalid(
    study: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    name, path = study
    monkeypatch.setattr(catalog, "GENERATORS", {**catalog.GENERATORS, "engine": OnASlowClient})
    monkeypatch.setattr(sys, "argv", ["dunnage", "run", str(path), "--results", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        typed_here()
    assert ended.value.code == ExitCode.UNTRUSTWORTHY
    record = the_run(open_result(tmp_path / name))
    found = judged(record, "client")
    busy = float(reading(found, "busy").value)
    assert record.measurement is not None
    rate = record.measurement.operations["all"].count / record.measurement.seconds
    seen = f"{100 * busy:.1f} % busy at {rate:.0f} op/s"
    record_property("seen", seen)
    assert (found.status, found.why) == (Status.INVALID, Why.MEASURED), seen
    insist_nothing_left(name, set())
