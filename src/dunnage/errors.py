"""Every error a user can meet: what happened, where, and the next command to type.

Errors are raised once, where they are noticed, and rendered once, in the CLI.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import ClassVar

from dunnage.secrets.texts import masked, told_of


class ExitCode(IntEnum):
    """What the `dunnage` command ends with; documented in `dunnage --help`."""

    OK = 0
    """Done."""
    BUG = 1
    """A bug in Dunnage; a traceback is shown."""
    USAGE = 2
    """The command line or the study file is wrong."""
    UNAVAILABLE = 3
    """What was asked for cannot run here; the message says what is missing."""
    FAILED = 4
    """A deployment or a run failed; finished runs are kept, `--resume` goes on."""
    UNTRUSTWORTHY = 5
    """Everything ran, but too many runs are invalid for an answer, or a file is missing, not as it
    was written, or not readable: if it is of a run, that run is not counted."""
    REGRESSION = 6
    """`compare`: the later result is worse beyond tolerance."""
    INCOMPARABLE = 7
    """`compare`: the two results differ in facts that are not compared."""
    DAMAGED = 8
    """`verify`: files of a result are damaged."""
    INTERRUPTED = 130
    """Stopped by the user; finished runs are kept."""


class DunnageError(Exception):
    """Base of all errors: one sentence `what`, the place `where`, a command as `hint`.

    What it quotes of a user, a server or a program may hold secrets: they are masked here, so that
    neither a terminal nor a file gets them.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = masked(what)
        super().__init__(self.what)
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return told_of(self.where, self.what) if self.where else self.what


@dataclass(frozen=True)
class Problem:
    """One mistake in a study file. `line` counts from 1; 0 means the file as a whole."""

    line: int
    what: str
    hint: str = ""


class StudyError(DunnageError):
    """A study file has problems; all of them are here, in order of line."""

    exit_code = ExitCode.USAGE

    def __init__(self, path: str, problems: tuple[Problem, ...], *, hint: str = "") -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(count, where=path, hint=hint)
        self.problems = tuple(
            replace(each, what=masked(each.what), hint=masked(each.hint)) for each in problems
        )


class UsageError(DunnageError):
    """The command line, or a file it names, does not fit."""

    exit_code = ExitCode.USAGE


class UnavailableError(DunnageError):
    """What was asked for cannot run here."""

    exit_code = ExitCode.UNAVAILABLE


class StayError(DunnageError):
    """A deployment could not be brought up, or died: the stay ends, and those of its runs that have
    no record are to be made in another."""


@contextmanager
def failing_stay() -> Iterator[None]:
    """Have what cannot be had just now fail the stay that needs it: UnavailableError becomes
    StayError, the stay is tried again, and the study goes on."""
    try:
        yield
    except UnavailableError as error:
        raise StayError(error.what, where=error.where, hint=error.hint) from error


class RunError(DunnageError):
    """One run failed; the deployment may still be alive."""


class HostLostError(DunnageError):
    """A host no longer answers: power cut, crash or a cut network."""


class ResultError(DunnageError):
    """A result directory is missing, foreign, from a newer version, or cannot be written."""

    needed: str = ""
    """The file without which nothing can be read of a result, if that is damaged or gone."""


class UnwrittenError(ResultError):
    """A file of a result cannot be written, or one at an empty place that nobody knows of a full
    disk. `forbidden`: this user may not write there."""

    def __init__(self, error: OSError, where: str) -> None:
        self.forbidden = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        known = {
            errno.ENOSPC: "the disk is full" if where else "a disk is full",
            errno.EDQUOT: "the disk is full" if where else "a disk is full",
            errno.EFBIG: "cannot write: the file would be larger than this shell's limit",
            errno.ENOENT: "cannot write: the directory was removed",
        }
        unfit = unfit_place(error)
        why = f"cannot write: {unfit or error.strerror}"
        place = _missing(where) if error.errno == errno.ENOENT and not unfit else where
        super().__init__(why if unfit else known.get(error.errno or 0, why), where=place)
        self._unfit = bool(unfit)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        which = "`df` shows which one; " if full and not where else ""
        self._remedy = f"{which}{remedy(error)}"

    def then(self, command: str, elsewhere: str = "") -> str:
        """A hint: the command that goes on once the cause is gone; where no file can ever be, that
        which writes `elsewhere`, if there is one."""
        if self._unfit and elsewhere:
            return f"name another directory: {elsewhere}"
        if self._unfit:
            return f"put a directory that takes files in its place, then: {command}"
        return f"{self._remedy}, then: {command}" if self._remedy else command


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in an error that does not: the kernel names none where a write fails, as it
    does on a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def unfit_place(error: OSError) -> str:
    """Why nobody can ever write where this one could not; empty where a place is fit for files.

    Directories of the kernel, such as `/proc`, are there and let us in, and take no files. A device
    is no directory, and nobody should move it away.
    """
    if not isinstance(error.filename, str | os.PathLike):
        return ""
    path = Path(error.filename)
    place = path.parent
    try:
        nearest = next(each for each in (path, *path.parents) if _present(each))
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            mode = nearest.stat().st_mode
            odd = not (stat.S_ISDIR(mode) or stat.S_ISREG(mode))
            return f"{nearest} is no directory" if odd else ""
        if error.errno == errno.ENOENT and nearest not in (path, place):
            # Whoever makes the missing directories first comes no further.
            return _takes_none(nearest) if nearest.stat().st_dev in _kernels() else ""
        if error.errno in (errno.ENOENT, errno.EACCES, errno.EPERM):
            removed = not place.stat().st_nlink  # as the directory is in which one still stands
            forbidden = error.errno != errno.ENOENT and not os.access(place, os.W_OK)
            held = _present(Path(error.filename2 or error.filename))  # by its mode or attributes
            return "" if removed or forbidden or held else _takes_none(place)
    except OSError:
        pass  # it is not there, so nothing is known of it
    return ""


def _takes_none(place: Path) -> str:
    return f"{'this directory' if place == Path() else place} takes no files"


def _kernels() -> set[int]:
    """The file systems that hold what the kernel tells, and no files of anybody."""
    places = (Path("/proc"), Path("/sys"))
    return {place.stat().st_dev for place in places if place.is_mount()}


def _missing(where: str) -> str:
    """The outermost directory above a place that is missing; the place itself where none is."""
    missing = [each for each in Path(where).parents if not _present(each)]
    return str(missing[-1]) if missing else where


def _present(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


def remedy(error: OSError) -> str:
    """What to do so that a file can be written that could not be; empty where nobody knows."""
    return _REMEDIES.get(error.errno or 0, "")


_REMEDIES = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.ENOENT: "put the directory back",
    errno.EFBIG: "ulimit -f unlimited",
    errno.EACCES: "make it writable",
    errno.EPERM: "make it writable",
    errno.EROFS: "make it writable",
    errno.ELOOP: "remove the link",
    errno.EEXIST: "move away what is in its place",
    errno.ENOTDIR: "move away what is in its place",
    errno.EISDIR: "move away what is in its place",
}


class NoResultError(ResultError):
    """The command line names no result directory."""

    exit_code = ExitCode.USAGE
    inside: str = ""
    """The result of which a part was named, if that is what was wrong."""


TO_LOOK = "dunnage run --keep STUDY  # to look at the hosts"
"""A hint for what went wrong on hosts that are ours. Of others nothing is kept."""


class InterruptedRunError(DunnageError):
    """The user stopped the study; what finished is kept."""

    exit_code = ExitCode.INTERRUPTED


_LONGEST = 60
"""Characters of a user's value that a message repeats."""


def shown(value: object) -> str:
    """Return somebody's value as a message can repeat it: in backticks, one line, short, without
    its secrets."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = masked(str(value).lower() if isinstance(value, bool) else str(value))
    line = "".join(letter if letter.isprintable() else "�" for letter in text[: _LONGEST + 1])
    return f"`{line[: _LONGEST - 1]}…`" if len(line) > _LONGEST else f"`{line}`"


def plain(text: str) -> str:
    """Replace control characters: a server's log must not steer a terminal or break a page."""
    return _STEERING.sub("\ufffd", text)


_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
