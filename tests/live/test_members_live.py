"""Members natively and in Docker that end, do not begin, or are spoken to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from docker_lab import (
    Lab,
    cli,
    deployed,
    every_variant,
    first_services,
    native_and_docker,
    opened,
    prepared,
    tree,
    until,
)

from dunnage.errors import StayError
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Probe, Service

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """For all of this file."""
    with opened() as made:
        yield made


@every_variant
def test_a_crashed_member_is_noticed_with_its_log(lab: Lab, deployment: Deployment) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        victim = reservation.places[1].member
        platform.crash(victim)
        with pytest.raises(StayError, match="died: exit code") as noticed:
            until(lambda: not platform.running())
        assert noticed.value.where == victim
        assert "its log ends:" in noticed.value.what
        assert "Configuration loaded" in noticed.value.what
        assert "Configuration loaded" in platform.log(victim, 200)


def altered(service: Service, **changes: Any) -> Service:
    return replace(service, **changes)


@native_and_docker
def test_a_member_that_never_becomes_ready_is_given_up_with_its_log(
    lab: Lab, deployment: Deployment
) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        services = first_services(deployment, reservation)
        never = Probe((*services[0].ready.argv[:-1], "ECHO", "no"), expect="yes")
        with pytest.raises(StayError, match=r"(?s)was not ready within 1 s.*Redis") as noticed:
            platform.up([altered(services[0], ready=never), *services[1:]], deadline=1.0)
        assert noticed.value.where == services[0].member


@native_and_docker
def test_a_member_that_ends_early_is_told_at_once(lab: Lab, deployment: Deployment) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        services = first_services(deployment, reservation)
        broken = altered(services[0], argv=(services[0].argv[0], "--no-such-directive", "1"))
        with pytest.raises(StayError, match=r"(?s)ended before it was ready: exit code 1.*FATAL"):
            platform.up([broken], deadline=60.0)


@every_variant
def test_what_a_member_forked_is_gone_too(lab: Lab, deployment: Deployment) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        first = reservation.places[0]
        address = first.ports["redis"].contact
        slowly = ("CONFIG", "SET", "rdb-key-save-delay", "10000000")
        assert cli(lab.client, address, *slowly) == "OK\n"
        assert cli(lab.client, address, "SET", "key", "value") == "OK\n"
        assert "started" in cli(lab.client, address, "BGSAVE")
        platform.crash(first.member)


@every_variant
def test_a_port_in_use_is_named_with_its_holder(lab: Lab, deployment: Deployment) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        place = reservation.places[0]
        host = next(each for each in lab.database_hosts if each.name == place.host)
        address = place.ports["redis"].contact
        host.put_tree(tree().source, tree().prefix)
        squatter = host.start(
            [
                f"{tree().prefix}/bin/redis-server",
                *("--bind", address.host, "--port", str(address.port), "--protected-mode", "no"),
            ],
            unit="squatter",
            log=f"{host.scratch}/squatter.log",
        )
        try:
            until(lambda: cli(lab.client, address, "PING") == "PONG\n")
            with pytest.raises(StayError, match=f"port {address.port} .*redis-server.*pid"):
                platform.up(first_services(deployment, reservation), deadline=30.0)
        finally:
            squatter.signal("KILL")
            squatter.wait(10.0)


@native_and_docker
def test_commands_beside_a_member_have_input_outputs_and_code(
    lab: Lab, deployment: Deployment
) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        member = reservation.places[0].member
        probe = first_services(deployment, reservation)[0].ready.argv
        words = [word for word in probe if word.upper() != "PING"]
        echoed = platform.run(member, words, stdin="ECHO hello\nECHO again\n", timeout=10.0)
        assert (echoed.code, echoed.stdout) == (0, "hello\nagain\n")
        failed = platform.run(member, [words[0], "-p", "1", "PING"], stdin="", timeout=10.0)
        assert failed.code == 1
        assert "refused" in failed.stderr
