"""What labs without an owner left behind, and its removal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dunnage.hosts.control_groups.groups import TOP, ControlGroups, until
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.first_process import Identity
from dunnage.hosts.lab import LABS, SCRATCH, SWITCH, Owner, is_lab, is_roots, registry


@dataclass(frozen=True)
class Leftover:
    """A lab whose owner is gone. `kept` when it was left alive on purpose."""

    lab: str
    purpose: str
    kept: bool
    first: Mapping[str, Identity] = field(default_factory=dict)
    """First processes of its hosts and its switch, which may still live."""

    @property
    def hosts(self) -> int:
        """How many hosts it had."""
        return len(self.first.keys() - {SWITCH})

    @property
    def alive(self) -> bool:
        """Whether any of its hosts lives."""
        return any(first.alive() for first in self.first.values())


def leftovers() -> tuple[Leftover, ...]:
    """Labs whose owner is gone, kept ones too. Needs root."""
    with registry():
        return _held_leftovers(control_groups())


def clean(*, kept: bool = False) -> tuple[Leftover, ...]:
    """Remove what labs without an owner left, kept ones only when asked; returns what it was."""
    with registry():
        return clean_held(control_groups(), kept=kept)


def clean_held(groups: ControlGroups, *, kept: bool) -> tuple[Leftover, ...]:
    """The same for one who holds the registry already."""
    orphans = [one for one in _held_leftovers(groups) if kept or not one.kept]
    for leftover in orphans:
        _remove(groups, leftover)
    forget_tops(groups)
    return tuple(orphans)


def remove(leftover: Leftover) -> None:
    """Remove one of `leftovers`, with all that still lives of it."""
    groups = control_groups()
    with registry():
        _remove(groups, leftover)
        forget_tops(groups)


def _held_leftovers(groups: ControlGroups) -> tuple[Leftover, ...]:
    known = set(filter(is_lab, _names(LABS)))
    traces = set(filter(is_lab, {*groups.children(TOP), *_names(SCRATCH)}))
    named = [_judge(lab) for lab in sorted(known)]
    nameless = [Leftover(lab, "", kept=False) for lab in sorted(traces - known)]
    return tuple(one for one in [*named, *nameless] if one is not None)


def forget_tops(groups: ControlGroups) -> None:
    """Remove what lies above all labs when no lab is left. The registry must be held."""
    groups.remove_empty(TOP)
    with contextlib.suppress(OSError):
        SCRATCH.rmdir()
        SCRATCH.parent.rmdir()


def _judge(lab: str) -> Leftover | None:
    """A lab with a state directory; None while its owner lives, which holds the lock."""
    directory = LABS / lab
    file = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    finally:
        os.close(file)
    try:
        owner = Owner.read((directory / "owner.json").read_text())
    except (FileNotFoundError, ValueError, KeyError):
        return Leftover(lab, "", kept=False)
    return Leftover(lab, owner.purpose, owner.keep, owner.first)


def _remove(groups: ControlGroups, leftover: Leftover) -> None:
    group = f"{TOP}/{leftover.lab}"
    groups.thaw(group)
    for first in leftover.first.values():
        first.kill()
    groups.remove(group)
    until(lambda: not any(first.there() for first in leftover.first.values()))
    if is_roots(SCRATCH):
        shutil.rmtree(SCRATCH / leftover.lab, ignore_errors=True)
    shutil.rmtree(LABS / leftover.lab, ignore_errors=True)


def _names(directory: Path) -> set[str]:
    """Names in a directory of root's; none in another, which someone else may have filled."""
    return {path.name for path in directory.iterdir()} if is_roots(directory) else set()
