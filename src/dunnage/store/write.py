"""Writes a result directory so that neither kill -9 nor a full disk loses a finished run."""

from __future__ import annotations

import errno
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dunnage.errors import ResultError
from dunnage.model.plan import Plan
from dunnage.model.record import Record, StayRecord
from dunnage.model.value import Scalar, Value
from dunnage.store.layout import ResultLayout
from dunnage.store.secrets import masked

JOURNAL_VERSION = 1
"""1: first."""


class ResultWriter:
    """The only writer of a result directory while a study is carried out."""

    def __init__(self, root: Path) -> None:
        self.layout = ResultLayout(root)
        self._run_directories: set[str] = set()

    @classmethod
    def create(cls, results: Path, study: str, text: str, plan: Plan) -> ResultWriter:
        """Make `results/<study>/<time>-<id>/` with the study as given and its plan."""
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        writer = cls(results / study / f"{stamp}-{secrets.token_hex(3)}")
        with _reported(writer.layout.root):
            writer.layout.runs.mkdir(parents=True)
            writer.layout.stays.mkdir()
        write_text(writer.layout.study, masked(text))
        write_value(writer.layout.plan, plan)
        return writer

    def journal(self, event: str, **details: Scalar) -> None:
        """Append one line and wait until it is on the disk."""
        line = {"version": JOURNAL_VERSION, "time": time.time(), "event": event, **details}
        with _reported(self.layout.journal), self.layout.journal.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def environment(self, facts: Mapping[str, Scalar]) -> None:
        """Write what is known of the machine, the daemons and our own version."""
        text = json.dumps(dict(sorted(facts.items())), indent=2, ensure_ascii=False)
        write_text(self.layout.environment, masked(text) + "\n")

    def new_stay(self, stay: str) -> str:
        """Return the name for the next attempt at a planned stay and make its directory."""
        attempt, name = 1, stay
        while (self.layout.stays / name).exists():
            attempt += 1
            name = f"{stay}.{attempt}"
        with _reported(self.layout.stays):
            (self.layout.stays / name).mkdir()
        return name

    def stay(self, record: StayRecord) -> None:
        """Write what a living deployment said of itself."""
        write_value(self.layout.stay(record.stay), record)

    def stay_log(self, stay: str, name: str, text: str) -> None:
        """Keep a member's log beside its stay."""
        write_text(self.layout.stays / stay / name, masked(text))

    def artefact(self, run: str, name: str, content: bytes) -> None:
        """Keep one raw artefact of a run; what an unfinished attempt left is removed first."""
        directory = self.layout.run(run)
        with _reported(directory):
            if run not in self._run_directories:
                directory.mkdir(parents=True, exist_ok=True)
                for path in directory.iterdir():
                    path.unlink()
                self._run_directories.add(run)
            write_bytes(directory / name, content)

    def record(self, record: Record) -> None:
        """Write the record, last and atomically: from now on the run has happened."""
        self.layout.run(record.run).mkdir(parents=True, exist_ok=True)
        write_value(self.layout.record(record.run), record)


def write_value(path: Path, value: Value) -> None:
    """Write a value as JSON, whole or not at all."""
    write_text(path, masked(value.model_dump_json(indent=1)) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write text, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file beside its place, wait for the disk, then rename it into place."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with _reported(path):
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResultError(
                "the disk is full; every finished run is kept",
                where=str(path),
                hint="free some space, then: dunnage run --resume " + str(_result_of(path)),
            ) from error
        raise ResultError(f"cannot write: {error.strerror}", where=str(path)) from error


def _result_of(path: Path) -> Path:
    for parent in (path, *path.parents):
        if (parent / "plan.json").exists():
            return parent
    return path.parent
