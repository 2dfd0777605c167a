"""Hosts for deployments that live at once: a group for each place, over which they rotate."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.model.deployment import Deployment
from dunnage.model.study import Study, TestbedSpec


def slot(group: str, place: int) -> str:
    """Name of the group of hosts for a place in a block, from 0: `db`, `db.2`, `db.3`, …"""
    return group if place == 0 else f"{group}.{place + 1}"


def with_slots(study: Study, deployments: Sequence[Deployment]) -> TestbedSpec:
    """The study's testbed, with a group for each place where load comes in turns.

    `deployments` are all of the study's that can run here: in which place those of a part
    (`--only`) live depends on the others as well.
    """
    spec = study.testbed
    if study.load.turns is None:
        return spec
    hosts = dict(spec.hosts)
    for group in dict.fromkeys(each.hosts for each in deployments):
        hosts |= {slot(group, place): hosts[group] for place in range(len(deployments))}
    return spec.model_copy(update={"hosts": hosts})
