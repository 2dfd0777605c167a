"""A study carried out by the real command in a process of its own, to be watched and hurt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from lab_traces import Traces

from dunnage.errors import ExitCode
from dunnage.hosts.clean import clean_held, leftovers
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.lab import LABS, SCRATCH, Owner, registry
from dunnage.store.read import Result, open_result

DUNNAGE = (sys.executable, "-m", "dunnage")
T = TypeVar("T")
PATIENCE = 600.0
"""Seconds after which waiting is given up: studies of another clone may be measured meanwhile."""


class StudyProcess:
    """`dunnage run` with some words; the lab it makes is known by the study's name.

    The words `within` run it, and become it: in namespaces of its own, for example.
    """

    def __init__(self, study: str, results: Path, *words: str, within: Sequence[str] = ()) -> None:
        self.study = study
        self.results = results
        self.output = results / f"output-{time.monotonic_ns()}"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*within, *DUNNAGE, "run", *words],
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "NO_COLOR": "1"},
            )

    @property
    def said(self) -> str:
        """Everything it wrote."""
        return self.output.read_text()

    def result(self) -> Result:
        """The study's newest result."""
        return open_result(self.results / self.study)

    def wait(self) -> int:
        """Its exit code."""
        return self.process.wait(PATIENCE)

    def lab(self) -> str | None:
        """The lab that it holds now."""
        for path in LABS.glob("*/owner.json"):
            try:
                owner = Owner.read(path.read_text())
            except (OSError, ValueError, KeyError):
                continue  # being made or removed just now
            if owner.purpose == self.study and owner.owner.pid == self.process.pid:
                return path.parent.name
        return None

    def until(self, see: Callable[[], T | None]) -> T:
        """Wait until something can be seen; fails when the process ends before."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            seen = see()
            if seen:
                return seen
            assert self.process.poll() is None, self.said
            time.sleep(0.02)
        raise AssertionError(f"not seen in {PATIENCE} s: {self.said}")

    def member(self, name: str) -> int | None:
        """Process id, here, of a program of the lab whose command line holds `name`."""
        return next((pid for pid, words in self._programs() if name in " ".join(words)), None)

    def program(self, name: str) -> int | None:
        """The same of a program whose file has this name, whatever starts it."""
        found = (pid for pid, words in self._programs() if Path(words[0]).name == name)
        return next(found, None)

    def _programs(self) -> Iterator[tuple[int, list[str]]]:
        """Process id and command line of everything in the lab."""
        lab = self.lab()
        for entry in Path("/proc").iterdir() if lab else ():
            try:
                command = (entry / "cmdline").read_bytes().decode()
                group = (entry / "cgroup").read_text()
            except (OSError, UnicodeDecodeError):
                continue
            if f"/dunnage/{lab}/" in group:
                yield int(entry.name), command.split("\0")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


@contextmanager
def started(
    study: str, results: Path, *words: str, within: Sequence[str] = ()
) -> Iterator[StudyProcess]:
    """Start a study; whatever becomes of the test, it does not outlive it."""
    running = StudyProcess(study, results, *words, within=within)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.send_signal(signal.SIGTERM)
            try:
                running.process.wait(60)
            except subprocess.TimeoutExpired:
                running.kill()


def in_a_run(running: StudyProcess) -> object:
    """Whether a run goes on."""
    return running.member("runs/")


def driven(running: StudyProcess, directory: str = "runs", run: str = "*") -> bool:
    """Whether operations of a run that is called like `run` are being answered.

    `directory` names another load than measured runs.
    """
    logs = SCRATCH.glob(f"{running.lab()}/*/{directory}/{run}/generator.log")
    with suppress(FileNotFoundError):  # it is being fetched just now
        return any('"operations"' in log.read_text() for log in logs)
    return False


def insist_nothing_left(study: str, labs: set[str]) -> None:
    """Fail if a study's labs left anything on this machine."""
    assert [each for each in leftovers() if each.purpose == study] == []
    for lab in labs:
        Traces(lab).insist_gone()


def insist_clean_removes(study: str, labs: set[str]) -> None:
    """Fail if what killed labs left is not found, or not all of it is removed.

    Where another test made a lab meanwhile, that has removed it, by the same function.
    """
    with registry():
        left = {lab for lab in labs if (LABS / lab).exists()}
        removed = {each.lab for each in clean_held(control_groups(), kept=False)}
    assert left <= removed
    answered("clean")
    insist_nothing_left(study, labs)


@contextmanager
def under_way(
    study: str, path: Path, see: Callable[[StudyProcess], object], within: Sequence[str] = ()
) -> Iterator[StudyProcess]:
    """A new study once something can be seen of it, with its results beside its file.

    When it has ended, nothing of it may be left.
    """
    results = path.parent
    words = (str(path), "--results", str(results))
    with started(study, results, *words, within=within) as running:
        lab = running.until(running.lab)
        running.until(lambda: see(running))
        yield running
    insist_nothing_left(study, {lab})


def answered(*words: str) -> dict[str, Any]:
    """Run a verb with `--format json` and return its answer, be it trustworthy or not.

    The test's own limit ends it, and then it ends what it has started.
    """
    shown = subprocess.run([*DUNNAGE, *words, "--format", "json"], capture_output=True, text=True)
    assert shown.returncode in (ExitCode.OK, ExitCode.UNTRUSTWORTHY), shown.stderr
    answer: dict[str, Any] = json.loads(shown.stdout)
    return answer
