"""Damaged files of a result, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.model.damage import JOURNAL, Damage, Flaw, of_the_whole
from dunnage.secrets.texts import told_of
from dunnage.wording.numbers import count

LINES_SHOWN = 5
"""Damaged files that are named where they are not what was asked for."""
STUDY = "study.yaml"
_DOUBTS: Mapping[str, str] = {
    STUDY: "its questions, tolerances and load are perhaps not those that were measured",
    "plan": "what was planned is perhaps not what was measured",
    "looks.jsonl": "how often the answer was looked at is not certain, nor are its error rates",
    "environment.json": "what is said of the machine is not certain",
    "calibration.json": "the rates that are shares of a capacity are not certain",
    "losses.json": "what is said of known losses is not certain",
    JOURNAL: "a change of other files may not be noticed",
}
"""File of the whole result, or how its name begins → what nobody can rely on when it is damaged."""
FLAWS: Mapping[Flaw, str] = {
    Flaw.MISSING: "it is missing",
    Flaw.UNREADABLE: "it cannot be read",
    Flaw.FORBIDDEN: "this user may not read it",
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
    return told_of(damage.file, meaning(damage))


def meaning(damage: Damage) -> str:
    """What is wrong with a damaged file."""
    detail = f" ({damage.detail})" if damage.detail else ""
    return f"{FLAWS[damage.flaw]}{detail}"


def lines(damages: Sequence[Damage]) -> tuple[str, ...]:
    """Each damaged file once."""
    return tuple(dict.fromkeys(map(line, damages)))


def some_lines(damages: Sequence[Damage]) -> tuple[str, ...]:
    """Each damaged file once; of many only the first, and how many more there are."""
    every = lines(damages)
    rest = len(every) - LINES_SHOWN
    if rest <= 1:
        return every
    return (*every[:LINES_SHOWN], f"and {count(rest, 'more file')}: `dunnage verify` lists them")


def brief(damages: Sequence[Damage]) -> str:
    """How many files are damaged and what that means; empty if all are whole."""
    bad, closed = apart(damages)
    runs = len({damage.run for damage in damages if damage.run})
    told = []
    if found := lines(bad):
        told.append(count(len(found), "file of this result is", "files of this result are"))
        told[0] += " damaged"
    if found := lines(closed):
        some = count(len(found), "file of this result", "files of this result")
        told.append(f"{some} cannot be read by this user")
    if not told:
        return ""
    cost = f", so {count(runs, 'run')} cannot be used" if runs else ""
    doubt = "".join(f"; {text}" for text in doubts(damages))
    return f"{' and '.join(told)}{cost}{doubt}; `dunnage verify` lists what is wrong"


def lost_runs(damages: Sequence[Damage]) -> str:
    """What to do about runs that are lost by damage; empty where none is."""
    bad, _ = apart(damages)
    runs = len({damage.run for damage in bad if damage.run})
    if not runs:
        return ""
    some = count(runs, "run whose files are damaged", "runs whose files are damaged")
    return f"Measure the {some} again first: `dunnage verify` has the command, and it is no look."


def apart(damages: Sequence[Damage]) -> tuple[list[Damage], list[Damage]]:
    """What is damaged, and what may be whole but is closed to this user."""
    closed = [damage for damage in damages if damage.flaw is Flaw.FORBIDDEN]
    return [damage for damage in damages if damage.flaw is not Flaw.FORBIDDEN], closed


def whole(damages: Sequence[Damage]) -> bool:
    """Whether nothing is wrong with the files that are of no single run."""
    return all(damage.run for damage in damages)


def doubts(damages: Sequence[Damage]) -> tuple[str, ...]:
    """What nobody can rely on, for each file that is of no single run."""
    told = (f"{line(each)}, so {_doubt(each)}" for each in of_the_whole(damages))
    return tuple(dict.fromkeys(told))


def _doubt(damage: Damage) -> str:
    name = damage.file
    known = (said for begin, said in _DOUBTS.items() if name.startswith(begin))
    return next(known, "nothing that it says is certain")


def verified(files: int, unlisted: int, damages: Sequence[Damage]) -> str:
    """What came of reading so many files, of which some have no checksum."""
    bad, closed = (len(lines(some)) for some in apart(damages))
    told = f"{count(files, 'file')} examined, {bad or 'none'} damaged"
    if closed:
        told += f", {closed} not readable by this user"
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
