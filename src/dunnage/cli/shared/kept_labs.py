"""Labs that were left standing on purpose: nobody should forget them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from dunnage import lab_tool
from dunnage.cli.shared.terminal import say, typed
from dunnage.errors import UnavailableError
from dunnage.hosts.standing import StandingLab
from dunnage.wording.numbers import count


def kept_labs() -> tuple[StandingLab, ...]:
    """Those of this machine; none for who may not look."""
    with suppress(UnavailableError):
        return tuple(lab for lab in lab_tool.standing_labs() if lab.kept)
    return ()


@contextmanager
def told_of(*, keep: bool, fake: bool) -> Iterator[None]:
    """Say at the end, however it ends, which lab is left and how to get into it and rid of it."""
    if keep and fake:
        say(("`--keep` keeps nothing here: fake hosts exist in memory only", "yellow"))
    before = {lab.name for lab in kept_labs()} if keep and not fake else set()
    try:
        yield
    finally:
        if keep and not fake:
            for lab in kept_labs():
                if lab.name not in before:
                    _tell(lab)


def _tell(lab: StandingLab) -> None:
    say((f"lab {lab.name} is left standing: {count(len(lab.hosts), 'host')}", "yellow"))
    say("  a shell:  ", (typed("lab", "shell", "--lab", lab.name, lab.hosts[0].name), "bold"))
    say("  the end:  ", (typed("lab", "down", "--lab", lab.name), "bold"))


def tell_left(labs: Sequence[StandingLab]) -> None:
    """Say which labs nobody asked to remove."""
    for lab in labs:
        study = f" of `{lab.purpose}`" if lab.purpose else ""
        say(f"lab {lab.name}{study} was left standing on purpose and stays")
        say("  to remove it: ", (typed("lab", "down", "--lab", lab.name), "bold"))
    if labs:
        say("  to see: ", (typed("lab", "status"), "bold"))
