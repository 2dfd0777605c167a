"""Writes a result directory so that neither kill -9 nor a full disk loses a finished run."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import to_json

from dunnage.errors import ResultError, UnwrittenError
from dunnage.model.calibration import Calibration
from dunnage.model.look import Look
from dunnage.model.loss import Losses
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Scalar, Value
from dunnage.secrets.files import masked_data, masked_file
from dunnage.store.checksums import Checksum, checksum
from dunnage.store.events import ADDED, BEGINNINGS, KEPT
from dunnage.store.journal import Journal
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import facts_of, there
from dunnage.store.regular import opened_to_append, refuse_link

JOURNAL_VERSION = 3
"""1: first. 2: it lists the files that are written, with their checksums. 3: a study that goes on
first says which blocks were added, where a crash came before that."""

_LOOKING = 0.05
"""Seconds in which a process that looks whether a result is being written has done so."""


class ResultWriter:
    """The only writer of a result directory while a study is carried out."""

    def __init__(self, root: Path) -> None:
        self.layout = ResultLayout(root)
        self._run_directories: set[str] = set()
        self._unsettled: dict[Path, Checksum] = {}
        """Artefacts of the run that goes on, not yet waited for."""

    @classmethod
    def create(cls, results: Path, study: str, text: str, plan: Plan) -> ResultWriter:
        """Make `results/<study>/<time>-<id>/` with the study as given and its plan, or nothing."""
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        writer = cls(results / study / f"{stamp}-{secrets.token_hex(3)}")
        try:
            with writer._reported(results):
                writer.layout.runs.mkdir(parents=True)
                writer.layout.stays.mkdir()
            writer._keep(writer.layout.study, masked_file(writer.layout.study.name, text).encode())
            writer._keep(writer.layout.plan, _document(plan))
        except UnwrittenError as error:  # nothing is there that could be resumed
            shutil.rmtree(writer.layout.root, ignore_errors=True)
            again = "dunnage run STUDY --results DIRECTORY"
            error.hint = error.then(again, again)
            raise
        return writer

    def remove_unbegun(self) -> bool:
        """Remove this result if no stay of it ever began; returns whether it is gone.

        Only for who made it and still holds it.
        """
        events = Journal(self.layout.journal).events()
        if any(event.get("event") in BEGINNINGS for event in events):
            return False
        for directory in (self.layout.runs, self.layout.stays):
            if not directory.is_dir() or next(directory.iterdir(), None) is not None:
                return False
        shutil.rmtree(self.layout.root, ignore_errors=True)
        return not self.layout.root.exists()

    def make_directories(self) -> None:
        """Make the directories of runs and stays where they are missing, as somebody removed them.

        Raises UnwrittenError, also for a link.
        """
        for directory in (self.layout.runs, self.layout.stays):
            with self._reported(directory):
                refuse_link(directory)
                directory.mkdir(exist_ok=True)

    def journal(
        self, event: str, **details: Scalar | Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> None:
        """Append one line and wait until it is on the disk."""
        line = {"version": JOURNAL_VERSION, "time": time.time(), "event": event, **details}
        with self._reported(self.layout.journal):
            _append(self.layout.journal, json.dumps(masked_data(line)))

    def add_blocks(self, look: Look, plan: Plan) -> None:
        """Keep a look and then the plan of the blocks that came of it; earlier plans stay.

        In this order a crash in between leaves a look without blocks, which counts as none, and
        never blocks without a look.
        """
        before = self.layout.looks.read_bytes() if self.layout.looks.exists() else b""
        begin = "" if not before or before.endswith(b"\n") else "\n"
        self._keep(self.layout.looks, before + f"{begin}{look.model_dump_json()}\n".encode())
        self._keep(self.layout.further_plan(look.plan), _document(plan))
        self.journal(ADDED, plan=look.plan, blocks=look.added)

    def complete_blocks(self, plans: Mapping[int, Plan]) -> None:
        """Say that the blocks of these plans, by number, were added, as a crash prevented it."""
        for number, plan in sorted(plans.items()):
            self.journal(ADDED, plan=number, blocks=len(plan.blocks))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process from writing here; raises ResultError when one does."""
        with ExitStack() as stack:
            with self._reported(self.layout.lock):
                file = stack.enter_context(opened_to_append(self.layout.lock))
                try:
                    _lock(file)
                except BlockingIOError:
                    raise ResultError(
                        "another `dunnage run` is writing this result",
                        where=str(self.layout.root),
                        hint=f"dunnage status {shlex.quote(str(self.layout.root))}",
                    ) from None
            yield

    def environment(self, facts: Mapping[str, Scalar]) -> None:
        """Write what is known of the machine, the daemons and our own version.

        Raises ResultError as `same_conditions` does.
        """
        self.same_conditions(facts)
        known = masked_data(dict(sorted(facts.items())))
        text = json.dumps(known, indent=2, ensure_ascii=False)
        self._keep(self.layout.environment, f"{text}\n".encode())

    def same_conditions(self, facts: Mapping[str, Scalar]) -> None:
        """Raise ResultError when an earlier part of this result was measured under other facts,
        or under such as cannot be read.

        Runs of two machines must not meet in a block.
        """
        path = self.layout.environment
        earlier = facts_of(path) if there(path) else {}
        changed = [
            f"{key}: {earlier.get(key)} → {value}"
            for key, value in sorted(masked_data(dict(facts)).items())
            if key in earlier and earlier[key] != value
        ]
        if changed:
            raise ResultError(
                f"this result was started under other conditions: {'; '.join(changed)}",
                where=str(self.layout.root),
                hint="dunnage run STUDY  # a new result",
            )

    def new_stay(self, stay: str) -> str:
        """Return the name for the next attempt at a planned stay and make its directory."""
        attempt, name = 1, stay
        while self.layout.stay_directory(name).exists():
            attempt += 1
            name = f"{stay}.{attempt}"
        with self._reported(self.layout.stays):
            self.layout.stay_directory(name).mkdir()
        return name

    def stay(self, record: StayRecord) -> None:
        """Write what a living deployment said of itself."""
        self._keep(self.layout.stay(record.stay), _document(record))

    def calibration(self, calibration: Calibration) -> None:
        """Write what the baseline is capable of, once and for all.

        Raises ResultError when it already exists: the rates of finished runs depend on it.
        """
        if self.layout.calibration.exists():
            raise ResultError("already exists", where=str(self.layout.calibration))
        self._keep(self.layout.calibration, _document(calibration))

    def losses(self, losses: Losses) -> None:
        """Write which slowdowns lose what is asked for, in place of what was known before."""
        self._keep(self.layout.losses, _document(losses))

    def stay_log(self, stay: str, name: str, text: str) -> None:
        """Keep a member's log beside its stay."""
        # A log explains; nothing is lost but an explanation if the power goes now.
        path = self.layout.stay_log(stay, name)
        with self._reported(path):
            _replace(path, masked_file(name, text).encode(), wait=False)

    def artefact(self, run: str, name: str, content: bytes) -> None:
        """Keep one artefact of a run; what an unfinished attempt left is removed first.

        Secrets in it are masked, but a histogram log is kept byte for byte.
        """
        directory = self.layout.run(run)
        with self._reported(directory):
            refuse_link(self.layout.runs)
            refuse_link(directory)
            if run not in self._run_directories:
                directory.mkdir(exist_ok=True)
                for path in directory.iterdir():
                    path.unlink()
                self._run_directories.add(run)
            path = self.layout.artefact(run, name)
            kept = content if path.suffix == ".hlog" else _masked(name, content)
            _replace(path, kept, wait=False)
            self._unsettled[path] = checksum(kept)

    def record(self, record: Record) -> None:
        """Write the record, last and atomically: from now on the run has happened.

        The disk is waited for once, when all artefacts are written: each of them would make it
        commit its journal.
        """
        for path in self._unsettled:
            with self._reported(path), path.open("rb") as file:
                os.fsync(file.fileno())
        with self._reported(self.layout.run(record.run)):
            self.layout.run(record.run).mkdir(exist_ok=True)
        self._keep(self.layout.record(record.run), _document(record), self._unsettled)
        self._unsettled.clear()

    def _keep(
        self, path: Path, content: bytes, beside: Mapping[Path, Checksum] | None = None
    ) -> None:
        """Write a file whose checksum, with those of files beside it, the journal has before."""
        sums = {**(beside or {}), path: checksum(content)}
        files = {str(one.relative_to(self.layout.root)): sums[one]._asdict() for one in sums}
        self.journal(KEPT, files=files)
        with self._reported(path):
            _replace(path, content)

    @contextmanager
    def _reported(self, path: Path) -> Iterator[None]:
        """What cannot be written leaves a result that can be resumed once the cause is gone."""
        try:
            yield
        except OSError as error:
            unwritten = UnwrittenError(error, str(path))
            result = shlex.quote(str(self.layout.root))
            unwritten.hint = unwritten.then(f"dunnage run --resume {result}")
            raise unwritten from error


def _masked(name: str, content: bytes) -> bytes:
    """Mask a file; bytes that are no UTF-8 stay what they are."""
    text = masked_file(name, content.decode(errors="surrogateescape"))
    return text.encode(errors="surrogateescape")


def _document(value: Value) -> bytes:
    """A value as JSON, without its secrets."""
    return to_json(masked_data(json.loads(value.model_dump_json())), indent=1) + b"\n"


def write_value(path: Path, value: Value) -> None:
    """Write a value as JSON, whole or not at all."""
    write_bytes(path, _document(value))


def write_bytes(path: Path, content: bytes, *, wait: bool = True) -> None:
    """Write a file whole or not at all; raises UnwrittenError."""
    with _reported(path):
        _replace(path, content, wait=wait)


def _replace(path: Path, content: bytes, *, wait: bool = True) -> None:
    """Write a file beside its place, wait for the disk, then rename it into place.

    What stands in its place is replaced and never written to: it may be a link to anything.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(content)
            if wait:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_again(path: Path, content: bytes) -> Path:
    """Write a file that can be made again at any time, and its directory if that is missing."""
    with _reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content, wait=False)
    return path


def _append(path: Path, line: str) -> None:
    """Append one line and wait until it is on the disk."""
    with opened_to_append(path) as file:
        begin = "\n" if _cut_off(file) else ""
        file.write(f"{begin}{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _lock(file: BinaryIO) -> None:
    """Raises BlockingIOError while another process writes; one that only looks whether somebody
    does (`Result.in_progress`) holds the lock for a moment."""
    for _ in range(2):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOOKING)
        else:
            return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _cut_off(file: BinaryIO) -> bool:
    """Whether a crash cut the last line off: what comes next must not be lost with it."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnwrittenError(error, str(path)) from error
