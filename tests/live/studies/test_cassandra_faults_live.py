"""A ring of three whose members are hurt in the middle of a study: one killed in its container, one
that hangs, one whose disk is full, and two killed, so that no quorum is left.

Each study has three runs: one before, one that is hurt, and one after.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from study_process import StudyProcess, driven, under_way

from dunnage.model.check import CheckResult, Status
from dunnage.model.record import Measurement, Record
from dunnage.wording.checks import seen

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(1200)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}, memory: 2GiB, cores: shared}}
database:
  kind: cassandra
  members: 3
  consistency: {{read: ONE, write: QUORUM}}
  settings: {{jvm.compilers: C1{settings}}}
deployments:
  ring: {{{deployment}}}
workloads:
  - {{name: before, core: C}}
  - {{name: hurt, core: A}}
  - {{name: after, core: C}}
order: published
records: 3000
load: {{threads: [8], warmup: 500ms, duration: {seconds}s, timeout: {timeout}s}}
blocks: 1
deadline: 240s
patience: 0s
"""
NATIVE, BRIDGE = "platform: native", "platform: docker, network: bridge"
IN_MEMORY = f"{NATIVE}, storage: tmpfs"
LEFT = 2**20
"""Bytes that are left on a disk before it is full: those of a second or two."""
SOONER = ", phi_convict_threshold: 5"
"""Members believe others to be dead after 12 s without a sign of them, and not after 18 s."""
Seen = Callable[[str, object], None]
"""pytest's `record_property`."""


@dataclass(frozen=True)
class Hurt:
    """A study whose second run goes on."""

    running: StudyProcess

    def member(self, number: int) -> int:
        """Process id of a member, here."""
        return self.running.until(lambda: self.running.member(f"cassandra-{number}/data"))

    def run(self, workload: str) -> str:
        """Name of the run of a workload."""
        runs = self.running.result().plan.runs()
        return next(run.id for run in runs if run.workload.name == workload)

    def file(self, workload: str) -> Path:
        """Its record."""
        return self.running.result().layout.record(self.run(workload))

    def records(self) -> Mapping[str, Record]:
        """Record of every run, by its workload, of a study that has ended."""
        result = self.running.result()
        assert result.finished() == {run.id for run in result.plan.runs()}, self.running.said
        ended = [event["run"] for event in result.events() if event["event"] == "run finished"]
        assert len(ended) == len(set(ended)) == 3
        return {record.workload.name: record for record in result.records}

    def failures(self) -> list[str]:
        """Why stays failed."""
        events = self.running.result().events()
        return [str(event["why"]) for event in events if event["event"] == "stay failed"]


@contextmanager
def hurt(
    place: Path, deployment: str, *, seconds: int = 8, timeout: int = 3, settings: str = ""
) -> Iterator[Hurt]:
    """A study while its second run goes on. It ends by itself, keeps the record of its first run as
    it is, and leaves nothing."""
    name, path = f"faults-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(
        STUDY.format(
            name=name, deployment=deployment, settings=settings, seconds=seconds, timeout=timeout
        )
    )
    with under_way(name, path, lambda running: driven(running, run="*-hurt-*")) as running:
        study = Hurt(running)
        before = study.file("before").read_bytes()
        yield study
        assert running.wait() in (0, 5), running.said
        assert study.file("before").read_bytes() == before


def measured(record: Record) -> Measurement:
    """What a run measured."""
    assert record.measurement is not None
    return record.measurement


def errors(record: Record, operation: str = "all") -> Mapping[str, int]:
    """Kind → errors of a kind of operation that there were any of."""
    found = measured(record).operations[operation].errors
    return {kind: number for kind, number in found.items() if number}


def went_on(record: Record) -> bool:
    """Whether operations were answered to the end of a run."""
    line = measured(record).windows
    return sum(window.operations for window in line[-5:]) > 0


def gate(record: Record, name: str) -> CheckResult:
    """What a gate says of a run."""
    (found,) = (check for check in record.checks if check.check == name)
    return found


def insist_marked(study: Hurt, record: Record, told: str) -> str:
    """Fail unless a run is invalid because of its members, in words that the user was told; those
    words."""
    found = gate(record, "members")
    assert (record.status, found.status) == (Status.INVALID, Status.INVALID)
    words = seen(found)
    assert re.search(told, words), words
    assert f"run `{record.run}` is invalid: members: {words}" in study.running.said
    return words


def insist_well(record: Record) -> None:
    """Fail unless a run was made without an error, by members that were there to its end."""
    assert errors(record) == {}
    assert measured(record).operations["all"].count > 100
    assert gate(record, "members").status is Status.VALID


def insist_in_a_new_stay(study: Hurt, records: Mapping[str, Record], why: str) -> None:
    """Fail unless the stay ended for this reason, which the user was told with what to type next,
    and the last run was made in another stay."""
    (failed,) = study.failures()
    assert re.search(why, failed), failed
    assert records["before"].stay == records["hurt"].stay != records["after"].stay
    result = study.running.result()
    assert f"try: dunnage run --keep {result.layout.study}" in study.running.said


def test_a_member_that_is_killed_in_its_container_is_named_though_operations_go_on(
    tmp_path: Path, record_property: Seen
) -> None:
    with hurt(tmp_path, BRIDGE) as study:
        os.kill(study.member(2), signal.SIGKILL)
    records = study.records()
    words = insist_marked(study, records["hurt"], r"^cassandra-2 on db-2 died \(exit code 137\)$")
    assert went_on(records["hurt"])
    insist_in_a_new_stay(study, records, "^cassandra-2: died: exit code 137; its log ends:")
    for name in ("before", "after"):
        insist_well(records[name])
    record_property("seen", f"{words}; errors: {dict(errors(records['hurt']))}")


def test_a_member_that_hangs_is_named_and_the_next_run_is_made_in_the_same_stay(
    tmp_path: Path, record_property: Seen
) -> None:
    with hurt(tmp_path, NATIVE, timeout=1) as study:
        member = study.member(2)
        os.kill(member, signal.SIGSTOP)
        try:
            study.running.until(lambda: study.file("hurt").exists())
        finally:
            os.kill(member, signal.SIGCONT)
    records = study.records()
    words = insist_marked(
        study, records["hurt"], r"^not ready after the load: cassandra-2 on db-2 \("
    )
    assert errors(records["hurt"])["timeout"] > 0
    assert gate(records["hurt"], "errors").status is Status.INVALID
    assert went_on(records["hurt"])
    assert study.failures() == []
    assert len({record.stay for record in records.values()}) == 1
    for name in ("before", "after"):
        insist_well(records[name])
    record_property("seen", f"{words}; errors: {dict(errors(records['hurt']))}")


def fill_up(member: int) -> None:
    """Leave next to no room on the file system in memory that a member has its data on."""
    words = Path(f"/proc/{member}/cmdline").read_text().split("\0")
    (data,) = (word.partition("=")[2] for word in words if "cassandra.storagedir=" in word)
    there = os.statvfs(f"/proc/{member}/root{data}")
    size = (there.f_blocks - there.f_bfree) * there.f_frsize + LEFT
    within = ("nsenter", f"--target={member}", "--mount", "--pid", "--wd=/", "--")
    remount = ("mount", "-t", "tmpfs", "-o", f"remount,size={size}", "tmpfs", data)
    done = subprocess.run([*within, *remount], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_member_whose_disk_is_full_is_named_and_the_next_run_has_a_new_one(
    tmp_path: Path, record_property: Seen
) -> None:
    """Its server may go on: it writes its log into room that it has taken before, and tells of
    nothing. Or it dies, where it has mapped its log."""
    with hurt(tmp_path, IN_MEMORY) as study:
        fill_up(study.member(2))
    records = study.records()
    words = insist_marked(study, records["hurt"], "cassandra-2 on db-2")
    assert not re.search("cassandra-[13]", words)
    assert went_on(records["hurt"])
    insist_in_a_new_stay(study, records, "^cassandra-2: (only .* are left for its data$|died: )")
    for name in ("before", "after"):
        insist_well(records[name])
    record_property("seen", f"{words}; errors: {dict(errors(records['hurt']))}")


def test_without_a_quorum_writes_are_unavailable_and_reads_go_on(
    tmp_path: Path, record_property: Seen
) -> None:
    with hurt(tmp_path, NATIVE, seconds=30, settings=SOONER) as study:
        for number in (2, 3):
            os.kill(study.member(number), signal.SIGKILL)
    records = study.records()
    both = r"^cassandra-2 on db-2, cassandra-3 on db-3 died \("
    words = insist_marked(study, records["hurt"], both)
    assert errors(records["hurt"], "update")["unavailable"] > 0
    assert "unavailable" not in errors(records["hurt"], "read")
    assert measured(records["hurt"]).operations["read"].count > 100
    assert re.search(r"\d+ unavailable", seen(gate(records["hurt"], "errors")))
    assert went_on(records["hurt"])
    insist_in_a_new_stay(study, records, "^cassandra-2: died: exit code ")
    for name in ("before", "after"):
        insist_well(records[name])
    record_property("seen", f"{words}; errors: {dict(errors(records['hurt']))}")
