"""What Redis is started with and told, for every topology, with three addresses that differ.

`python tests/golden/test_redis_golden.py` writes the golden files anew; look at the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage.databases.redis.database import Redis
from dunnage.model.late import late_host
from dunnage.model.layout import (
    Address,
    Addresses,
    Place,
    Reservation,
    Stage,
    Step,
)
from dunnage.model.study import DatabaseSpec

GOLDEN = Path(__file__).parent / "redis"

SPECS: dict[str, dict[str, object]] = {
    "single": {"topology": "single", "settings": {"save": "900 1", "io-threads": 4}},
    "replicas": {"topology": "replicas", "members": 3, "consistency": {"write": 1}},
    "cluster-3": {"topology": "cluster", "members": 3},
    "cluster-6": {"topology": "cluster", "members": 6, "consistency": {"write": 1}},
    "cluster-translated": {"topology": "cluster", "members": 3},
    "replicas-late": {"topology": "replicas", "members": 2},
}


def spec(name: str) -> DatabaseSpec:
    return DatabaseSpec.model_validate({"kind": "redis", **SPECS[name]})


def addresses(name: str, member: str, index: int, port: int) -> Addresses:
    """Bind, peer and client differ in host; `translated` in the clients' port too."""
    if name.endswith("late"):
        bind = Address(late_host(member), port)
        peer = Address(f"{member}.members", port)
    else:
        bind = Address(f"172.17.0.{index + 2}", port)
        peer = Address(f"10.0.0.{index + 1}", port)
    shift = 20000 if name.endswith("translated") else 0
    told = Address(f"198.51.100.{index + 1}", port + shift)
    return Addresses(bind, peer, contact=told, advertised=told)


def reservation(name: str) -> Reservation:
    return Reservation(
        tuple(
            Place(
                member=seat.member,
                role=seat.role,
                host=f"db-{seat.slot + 1}",
                home=f"/run/{seat.member}",
                data=f"/data/{seat.member}",
                prefix="/run/dunnage/software/redis-7.0-0123456789ab",
                ports={
                    port: addresses(name, seat.member, seat.slot, number)
                    for port, number in seat.ports.items()
                },
            )
            for seat in Redis().layout(spec(name)).seats
        )
    )


def written(name: str) -> str:
    """Everything that a stay is told, as text."""
    redis, one, places = Redis(), spec(name), reservation(name)
    lines = [f"seat {seat}" for seat in redis.layout(one).seats]
    for stage in redis.stages(one, places):
        lines += written_stage(stage)
    for verb, steps in (
        ("facts", redis.facts(one, places)),
        ("reset", redis.reset(one, places)),
        ("settle", redis.settle(one, places)),
    ):
        lines += ["", f"# {verb}", *map(written_step, steps)]
    target = redis.target(one, places)
    options = dict(target.options)
    lines += ["", "# target", f"{target.driver} {target.topology} {options}"]
    lines += [str(address) for address in target.addresses]
    return "\n".join(lines) + "\n"


def written_stage(stage: Stage) -> list[str]:
    lines = ["", f"# stage {stage.name}"]
    for service in stage.services:
        lines += [f"{service.member}: {' '.join(service.argv)}"]
        lines += [f"  ready: {' '.join(service.ready.argv)} -> {service.ready.expect}"]
        lines += [f"  env: {dict(service.env)}"]
        for path, content in service.files.items():
            lines += [f"  {path}:", *(f"    {line}" for line in content.splitlines())]
    return [*lines, *map(written_step, stage.steps)]


def written_step(step: Step) -> str:
    return f"{step.name}, {step.member}, {step.deadline:g} s: {' '.join(step.argv)}"


@pytest.mark.parametrize("name", SPECS)
def test_what_redis_is_told_is_as_reviewed(name: str) -> None:
    assert written(name) == (GOLDEN / f"{name}.txt").read_text()


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for each in SPECS:
        (GOLDEN / f"{each}.txt").write_text(written(each))
