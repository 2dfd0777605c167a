"""Damaged files of a result, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.model.damage import Damage, Flaw
from dunnage.wording.numbers import count

JOURNAL = "journal.jsonl"
FLAWS: Mapping[Flaw, str] = {
    Flaw.MISSING: "it is missing",
    Flaw.UNREADABLE: "it cannot be read",
    Flaw.TRUNCATED: "it is truncated",
    Flaw.GARBLED: "its content is not what such a file holds",
    Flaw.VERSION: "a newer Dunnage wrote it",
    Flaw.FOREIGN: "it belongs to another run",
    Flaw.CHANGED: "it was changed after it was written",
    Flaw.UNLISTED: "it was not written by this study: the journal does not list it",
}
"""What each kind of damage means."""


def line(damage: Damage) -> str:
    """One damaged file, and what is wrong with it."""
    detail = f" ({damage.detail})" if damage.detail else ""
    return f"{damage.file}: {FLAWS[damage.flaw]}{detail}"


def lines(damages: Sequence[Damage]) -> tuple[str, ...]:
    """Each damaged file once."""
    return tuple(dict.fromkeys(map(line, damages)))


def brief(damages: Sequence[Damage]) -> str:
    """How many files are damaged and what that means; empty if all are whole."""
    found = lines(damages)
    if not found:
        return ""
    runs = len({damage.run for damage in damages if damage.run})
    cost = f", so {count(runs, 'run')} cannot be used" if runs else ""
    some = count(len(found), "file of this result is", "files of this result are")
    return f"{some} damaged{cost}; `dunnage verify` lists what is wrong"


def verified(files: int, unlisted: int, damages: Sequence[Damage]) -> str:
    """What came of reading so many files, of which some have no checksum."""
    bad = len(lines(damages))
    told = f"{count(files, 'file')} examined, {bad or 'none'} damaged"
    runs = len({damage.run for damage in damages if damage.run})
    if runs:
        told += f"; {count(runs, 'run')} cannot be used"
    if unlisted and not any(damage.flaw is Flaw.UNLISTED for damage in damages):
        lost = any(damage.file == JOURNAL for damage in damages)
        why = "the journal cannot be read" if lost else "an older Dunnage wrote them"
        told += (
            f"; {count(unlisted, 'file has', 'files have')} no checksum, because {why}: a change "
            "of them cannot be noticed"
        )
    return told
