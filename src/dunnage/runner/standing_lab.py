"""A lab without a study: hosts, Docker's daemons and a Swarm, left standing for whoever uses it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from dunnage import catalog
from dunnage.contracts import HasDaemons
from dunnage.model.study import CLIENT_GROUP, CONTROL_GROUP, TestbedSpec

MEMBERS_GROUP = "db"


@dataclass(frozen=True)
class Made:
    """What stands now."""

    lab: str
    contexts: Path | None
    """Directory of Docker contexts that lead to its daemons; None where none were asked for."""


def stand_up(
    hosts: int, *, docker: bool, swarm: bool, expose: bool, tell: Callable[[str], None]
) -> Made:
    """Make a lab of some hosts for members and one for a client, and leave it standing.

    A Swarm gets a host more, for its manager. `tell` is told of every step. Where one fails,
    nothing is left. Raises UnavailableError.
    """
    groups = {MEMBERS_GROUP: hosts, CLIENT_GROUP: 1} | ({CONTROL_GROUP: 1} if swarm else {})
    lab = None
    try:
        with ExitStack() as stack:
            testbed = stack.enter_context(
                catalog.open_lab(TestbedSpec(kind="namespace", hosts=groups))
            )
            lab, contexts = testbed.name, None
            tell(f"{len(testbed.hosts)} hosts")
            below = None
            for family in catalog.standing_families(docker=docker, swarm=swarm):
                below = stack.enter_context(
                    catalog.open_substrate(family, {}, testbed, testbed.hosts, below, keep=True)
                )
                tell(family)
            if expose and isinstance(below, HasDaemons):
                daemons = {host.name: below.daemon(host.name) for host in testbed.hosts}
                contexts = catalog.expose(lab, daemons)
                tell("contexts")
    except BaseException:
        if lab is not None:
            catalog.take_down_lab(catalog.chosen_lab(lab))
        raise
    return Made(lab, contexts)
