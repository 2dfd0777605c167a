"""What is wrong with a file of a result."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from dunnage.model.value import Value


class Flaw(StrEnum):
    """The kinds of damage."""

    MISSING = "missing"
    UNREADABLE = "not readable"
    """The system does not give its content."""
    FORBIDDEN = "not readable by this user"
    """Nothing is known to be wrong with it: only its owner can tell."""
    TRUNCATED = "truncated"
    """It is seen to break off; a file that is merely shorter may have been edited."""
    GARBLED = "garbled"
    """Its content is not what such a file holds."""
    VERSION = "another version"
    """A newer Dunnage wrote it."""
    FOREIGN = "of another run"
    CHANGED = "changed"
    """Its content has another checksum than when it was written, or the journal contradicts it."""
    UNLISTED = "not in the journal"
    """The journal has checksums, but none of this file."""


class Damage(Value):
    """One file that is not as it was written."""

    file: str
    """Path inside the result."""
    flaw: Flaw
    run: str = ""
    """The run that cannot be used because of it; empty if the file is of no single run."""
    detail: str = ""
    """The version of the file, the system's reason, how many lines, that it is shorter, or what
    contradicts it; empty without one."""


JOURNAL = "journal.jsonl"
_JUDGED_BY = ("study.yaml", "plan", "looks.jsonl", JOURNAL)
"""Files of the whole result, or how their names begin, that verdicts come from: tolerances, what is
compared, and the number of looks. The journal is what shows a change of them."""


def of_the_whole(damages: Iterable[Damage]) -> tuple[Damage, ...]:
    """Those of no single run; what this user may not read is not known to be damaged.

    But a journal that this user may not read shows no change of other files.
    """
    return tuple(
        each
        for each in damages
        if not each.run and (each.flaw is not Flaw.FORBIDDEN or each.file == JOURNAL)
    )


def undecidable(damages: Iterable[Damage]) -> bool:
    """Whether a verdict may be another than that of the study as it was measured."""
    return any(each.file.startswith(_JUDGED_BY) for each in of_the_whole(damages))
