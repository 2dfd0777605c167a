"""`--blocks`: how many blocks a study has in all, or how many are added to a result."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from dunnage import __version__, capabilities
from dunnage.analysis.looks import costs
from dunnage.cli.shared.terminal import say, typed
from dunnage.errors import UsageError
from dunnage.model.check import Status
from dunnage.model.study import Study
from dunnage.runner.added import add_blocks
from dunnage.store.read import Result, open_result
from dunnage.store.write import ResultWriter
from dunnage.wording.numbers import count

MOST = 1000
"""As many as a study file may ask for."""
_WRITTEN = re.compile(r"(\+?)([0-9]{1,4})")


Again = Callable[[str], str]
"""The command that was typed, with another `--blocks`."""


def total(written: str, again: Again, *, root: Path) -> int:
    """Blocks in all that `12` means for a new result, which will be in `root`.

    Raises UsageError for anything else.
    """
    adds, number = _read(written, again("12"))
    if adds:
        raise UsageError(
            f"`--blocks {written}` adds to a result: name it with `--resume`, or give a total",
            hint=typed("run", "--resume", root, "--blocks", written),
        )
    return _possible(number, again)


def grown(written: str, present: int, again: Again) -> int:
    """Blocks in all that `12` or `+6` means where `present` are there; raises UsageError."""
    adds, number = _read(written, again("+6"))
    wanted = number + present if adds else number
    if wanted <= present:
        raise UsageError(
            f"the result has {count(present, 'block')} already; `--blocks {written}` adds none",
            hint=again("+6"),
        )
    return _possible(wanted, again)


def _read(written: str, hint: str) -> tuple[bool, int]:
    """Whether blocks are added, and the number."""
    match = _WRITTEN.fullmatch(written)
    if match is None or not int(match[2]):
        what = f"`--blocks {written}` is not a number of blocks; write `12` or `+6`"
        raise UsageError(what, hint=hint)
    return bool(match[1]), int(match[2])


def _possible(wanted: int, again: Again) -> int:
    if wanted > MOST:
        what = f"{wanted} blocks are more than a study may have ({MOST})"
        raise UsageError(what, hint=again(str(MOST)))
    return wanted


def add(study: Study, writer: ResultWriter, written: str, again: Again, onward: str) -> None:
    """Add blocks to a result: a look is recorded, then a further plan.

    Whoever calls holds the result; `onward` is the command that adds none. Raises ResultError where
    the blocks could not be measured under the conditions of the others, as far as that is known
    beforehand: a look that nothing comes of would be spent for nothing. Raises UsageError where
    `+6` comes before the last added are measured: a command that is typed again after a crash shall
    not add twice.
    """
    writer.same_conditions(
        {"dunnage.version": __version__, **capabilities.here(study.testbed.kind)}
    )
    result = open_result(writer.layout.root)
    present = len(result.plan.blocks)
    wanted = grown(written, present, again)
    if written.startswith("+") and (lacking := _added_before(result)):
        raise UsageError(
            f"{count(lacking, 'block')} of those added before must be measured first; or give a "
            f"total: `--blocks {wanted}`",
            where=str(writer.layout.root),
            hint=onward,
        )
    seen = _seen(result)
    longer = add_blocks(study, result, writer, wanted, seen=seen, spare=False)
    say(f"{count(wanted - present, 'block')} added: {present} → {wanted}")
    *_, look = longer.looks
    if costs(look):
        say(
            f"this look at {count(seen, 'block')} with valid runs is recorded in "
            f"{result.layout.looks.name}: the intervals of the next look are wider",
        )


def command(result: Result, blocks: int) -> str:
    """The command that adds blocks to a result."""
    return typed("run", "--resume", result.layout.root, "--blocks", f"+{blocks}")


def _added_before(result: Result) -> int:
    """Blocks of the last look that lack a run."""
    looks = [look for look in result.looks if not look.spare]
    if not looks:
        return 0
    blocks = result.plan.blocks[looks[-1].planned :][: looks[-1].added]
    finished = result.finished()
    return sum(
        any(run.id not in finished for stay in block.stays for run in stay.runs) for block in blocks
    )


def _seen(result: Result) -> int:
    """Blocks with a valid run: the report showed something of them, whatever else they lack."""
    return len({record.block for record in result.records if record.status is Status.VALID})
