"""What Cassandra is started with and told, with three addresses that differ.

`python tests/golden/test_cassandra_golden.py` writes the golden files anew; look at the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage.databases.cassandra.database import Cassandra
from dunnage.errors import UnavailableError
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

GOLDEN = Path(__file__).parent / "cassandra"

SPECS: dict[str, dict[str, object]] = {
    "one": {
        "version": "4.1",
        "settings": {
            "concurrent_writes": 64,
            "memtable_heap_space": "64MiB",
            "jvm.heap": "1G",
            "jvm.collector": "Parallel",
            "jvm.compilers": "C1",
            "jvm.processors": 4,
        },
    },
    "three": {"members": 3, "consistency": {"read": "ONE", "write": "QUORUM"}},
    "two-bridged": {"members": 2, "replication": 1},
    "two-late": {"members": 2},
}


def spec(name: str) -> DatabaseSpec:
    return DatabaseSpec.model_validate({"kind": "cassandra", **SPECS[name]})


def addresses(name: str, member: str, index: int, port: int) -> Addresses:
    """Bind, peer and client differ in host, in the way that the spec's name says."""
    client = Address(f"198.51.100.{index + 1}", port)
    if name.endswith("late"):
        own, peer = late_host(member), f"{member}.members"
    elif name.endswith("bridged"):
        own, peer = f"172.17.0.{index + 2}", f"10.0.0.{index + 1}"
    else:
        own = peer = f"10.0.0.{index + 1}"
    return Addresses(Address(own, port), Address(peer, port), contact=client, advertised=client)


def reservation(name: str) -> Reservation:
    return Reservation(
        tuple(
            Place(
                member=seat.member,
                role=seat.role,
                host=f"db-{seat.slot + 1}",
                home=f"/run/{seat.member}",
                data=f"/data/{seat.member}",
                prefix="/run/dunnage/software/cassandra-5.0-0123456789ab",
                ports={
                    port: addresses(name, seat.member, seat.slot, number)
                    for port, number in seat.ports.items()
                },
            )
            for seat in Cassandra().layout(spec(name)).seats
        )
    )


def written(name: str) -> str:
    """Everything that a stay is told, as text."""
    cassandra, one, places = Cassandra(), spec(name), reservation(name)
    layout = cassandra.layout(one)
    lines = [str(layout.software), *(f"seat {seat}" for seat in layout.seats)]
    for stage in cassandra.stages(one, places):
        lines += written_stage(stage)
    for verb, steps in (
        ("facts", cassandra.facts(one, places)),
        ("reset", cassandra.reset(one, places)),
        ("settle", cassandra.settle(one, places)),
    ):
        lines += ["", f"# {verb}", *map(written_step, steps)]
    target = cassandra.target(one, places)
    lines += ["", "# target", f"{target.driver} {target.topology} {dict(target.options)}"]
    lines += [str(address) for address in target.addresses]
    return "\n".join(lines) + "\n"


def written_stage(stage: Stage) -> list[str]:
    lines = ["", f"# stage {stage.name}"]
    for service in stage.services:
        lines += [f"{service.member}:", *(f"  {word}" for word in service.argv)]
        lines += [f"  ready: {' '.join(service.ready.argv)} -> {service.ready.expect}"]
        lines += [f"  env: {dict(service.env)}; stopped by {service.stop_signal}"]
        for path, content in service.files.items():
            lines += [f"  {path}:", *(f"    {line}" for line in content.splitlines())]
    return [*lines, *map(written_step, stage.steps)]


def written_step(step: Step) -> str:
    return f"{step.name}, {step.member}, {step.deadline:g} s: {' '.join(step.argv)}"


@pytest.mark.parametrize("name", SPECS)
def test_what_cassandra_is_told_is_as_reviewed(name: str) -> None:
    assert written(name) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("port", ["storage", "cql"])
def test_an_endpoint_with_another_port_than_the_member_is_refused(port: str) -> None:
    (place,) = reservation("one").places
    own = place.ports[port]
    told = Address(own.contact.host, own.contact.port + 20000)
    peer = Address(own.peer.host, own.peer.port + 20000)
    moved = Addresses(own.bind, peer, contact=told, advertised=told)
    ports = {**place.ports, port: moved}
    elsewhere = Reservation((Place(**{**vars(place), "ports": ports}),))
    with pytest.raises(UnavailableError, match="connections would leave the endpoint"):
        Cassandra().stages(spec("one"), elsewhere)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for each in SPECS:
        (GOLDEN / f"{each}.txt").write_text(written(each))
