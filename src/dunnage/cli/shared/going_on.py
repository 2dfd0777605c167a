"""How a result is gone on with, or its study begun anew: commands, and what forbids them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dunnage.cli.shared.terminal import shell_line, typed
from dunnage.errors import ResultError, UsageError
from dunnage.model.damage import Damage, Flaw
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import as_owner, there
from dunnage.store.read import Result
from dunnage.store.whole import displaced, foundation
from dunnage.study.masked import masked_line
from dunnage.wording import damage

_OF_ITS_SECRET = "dunnage run STUDY  # STUDY is the file that holds the secret"  # noqa: S105
_OF_A_FILE = "dunnage run STUDY  # STUDY is the study file"


def anew(result: Result) -> str:
    """The command that measures the study of a result in a new one.

    A result's own study cannot be taken where it is lost or was changed, or has a mask in the place
    of a secret.
    """
    try:
        masked = masked_line(result.study_text)
    except ResultError:
        return _OF_A_FILE
    if masked:
        return _OF_ITS_SECRET
    own = result.layout.study
    changed = any(found.file == own.name for found in foundation(result))
    return _OF_A_FILE if changed else typed("run", own)


def put_back(needed: Path) -> str:
    """What helps where a file is lost without which nothing can be read of its result."""
    new = anew(Result(ResultLayout(needed.parent)))
    return f"put back `{needed.name}` from a copy, or start a new result: {new}"


def onward(result: Result) -> str:
    """The command that measures what a result lacks, in it or else in a new one."""
    if may_go_on(result):
        return typed("run", "--resume", result.layout.root)
    return anew(result)


def may_go_on(result: Result) -> bool:
    """Whether a result can be resumed, as far as its study tells."""
    try:
        return not masked_line(result.study_text)
    except ResultError:
        return False


INSIDE = "this is inside the result, which stays as it was measured"
"""Why nothing is written into a place."""


def again(result: Result, damages: Sequence[Damage]) -> str:
    """The command that measures those runs again whose files are damaged; empty without any.

    A run without a record did not happen, so nothing of it has to be removed first, but for what
    is `in_the_way`.
    """
    bad, _ = damage.apart(damages)
    runs = dict.fromkeys(found.run for found in bad if found.run)
    if not runs or not may_go_on(result):
        return ""
    places = dict.fromkeys(filter(None, (in_the_way(result, run) for run in runs)))
    removing = shell_line("rm", "-r", *places)
    return f"{removing} && {onward(result)}" if places else onward(result)


def in_the_way(result: Result, run: str) -> Path | None:
    """What has to be removed before a run can be measured again: its directory where that has a
    record, or is a link, through which nothing is ever written; or what is there in its place."""
    layout = result.layout
    place = layout.run(run)
    own = place.is_symlink() or there(layout.record(run))
    return place if own else displaced(layout, run)


def refuse_masked(text: str, path: Path, *again: str) -> None:
    """Raise UsageError for a study with a mask in the place of a secret: with the mask, other
    servers would be started. `again` is the verb that shall take the right file, and its words."""
    line = masked_line(text)
    if line:
        raise UsageError(
            "a secret is masked here, so this is not the study that was measured",
            where=f"{path}, line {line}",
            hint=f"{typed(*again)}  # STUDY is the file that holds the secret",
        )


def refuse_masked_result(result: Result) -> None:
    """Raise ResultError for a result whose study has such a mask."""
    line = masked_line(result.study_text)
    if line:
        raise ResultError(
            "a secret is masked here, so this result cannot be resumed",
            where=f"{result.layout.study}, line {line}",
            hint=_OF_ITS_SECRET,
        )


def refuse_changed(result: Result) -> None:
    """Raise ResultError for a result whose study, plans or facts are not as they were written: what
    came now would not belong to what is there."""
    damages = foundation(result)
    if next(result.events(), None) is not None:
        # Of a journal with lines that are none, what matters is in the others.
        own = result.layout.journal.name
        damages = tuple(
            each for each in damages if each.file != own or each.flaw is not Flaw.GARBLED
        )
    if not damages:
        return
    first, *others = damages
    place = result.layout.root / first.file
    more = "".join(f"; {damage.line(each)}" for each in others)
    raise ResultError(
        f"{damage.meaning(first)}, so this result cannot be resumed{more}",
        where=str(place),
        hint=_mended(result, first, place),
    )


def _mended(result: Result, found: Damage, place: Path) -> str:
    if found.flaw is Flaw.FORBIDDEN:
        return as_owner(place, "run", "--resume", str(result.layout.root))
    if found.file == result.layout.journal.name:
        return typed("report", result.layout.root)
    return f"put back `{found.file}` as it was, or start a new result: {anew(result)}"
