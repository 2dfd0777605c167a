"""The engine as one of the clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dunnage.generators.engine import plan
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder

from .asked import Asked, Kind, Place
from .shape import DIGITS, RECORDS, Shape
from .shots import Shot, ran


def filling(place: Place, shape: Shape, connections: int) -> dict[str, Any]:
    """The plan that puts all records in."""
    return _plan("C", Phase.LOAD, place, shape, connections, None)


def driving(asked: Asked, place: Place, shape: Shape) -> dict[str, Any]:
    """The plan of what all clients are asked for."""
    core = "C" if asked.kind is Kind.READ else "A"
    content = _plan(core, Phase.RUN, place, shape, asked.connections, asked.operations)
    if asked.kind is Kind.WRITE:
        content["workload"]["mix"] |= {"read": 0.0, "update": 1.0}
    return content


def shot(program: Path, content: Mapping[str, Any], place: Place, scratch: Path) -> Shot:
    """One load by the engine. Raises SystemExit when an operation failed."""
    (scratch / "plan.json").write_text(json.dumps(content))
    load = ("load", "--plan", str(scratch / "plan.json"), "--out", str(scratch))
    done = ran([*place.enter, str(program), *load], place.processor)
    result = json.loads((scratch / "result.json").read_text())
    if result["errors"]:
        raise SystemExit(f"operations of the engine failed: {result['errors']}")
    return Shot(sum(result["operations"].values()), result["seconds"], done.cpu)


def first(program: Path, content: Mapping[str, Any], place: Place, scratch: Path) -> float:
    """Seconds from the start of the engine's process to its first operation, in one load. Raises
    SystemExit when an operation failed."""
    shot(program, content, place, scratch)
    seconds: float = json.loads((scratch / "result.json").read_text())["first_operation"]
    return seconds


def plan_of(
    core: str,
    phase: Phase,
    target: Target,
    clients: int,
    operations: int | None = None,
    records: int = RECORDS,
) -> dict[str, Any]:
    """A plan for whole records of which all are equally likely; their keys are `user` and a number.
    Without a number of operations all records go in."""
    order = LoadOrder(
        workload=Workload.model_validate(
            {"name": core, "core": core, "phase": phase, "records": records}
        ),
        phase=phase,
        level=Level(threads=clients),
        target=target,
        connections=clients,
        arrivals=Arrivals.CONSTANT,
        timeout=10.0,
        seed=1,
        operations=operations,
    )
    content = plan(order, 0, 1)
    content["workload"] |= {
        "mix": dict(content["workload"]["mix"]),
        "requests": {"kind": "uniform"},
        "write_all_fields": True,
        "hashed_keys": False,
    }
    return content


def _plan(
    core: str,
    phase: Phase,
    place: Place,
    shape: Shape,
    connections: int,
    operations: int | None,
) -> dict[str, Any]:
    address = Address("127.0.0.1", place.port)
    target = Target("redis", "single", (address,), frozenset({address}), shape.options)
    content = plan_of(core, phase, target, connections, operations)
    content["workload"] |= {"zero_padding": DIGITS}
    return content
