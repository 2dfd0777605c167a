"""A Swarm that is there already: what is found of it, and what each wrong context is told."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from stand_in_daemon import in_swarm, listed, standing_in, write_context

from dunnage.contracts.docker import HasSwarm
from dunnage.contracts.host import Host
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.existing_swarm import ExistingSwarm, open_existing_swarm

THREE = tuple(map(listed, ("n1", "n2", "m")))


class Place:
    """Two hosts, and contexts that lead to stand-ins of daemons."""

    def __init__(self, directory: Path, hosts: tuple[Host, ...], stack: ExitStack) -> None:
        self.directory = directory
        self.hosts = hosts
        self._stack = stack

    def context(
        self,
        name: str,
        swarm: Mapping[str, Any] | None = None,
        nodes: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        """A context whose daemon tells this of its Swarm."""
        url = self._stack.enter_context(standing_in(self.directory / name, swarm, nodes))
        write_context(self.directory, name, url)

    def opened(self, **contexts: str) -> ExistingSwarm:
        """The Swarm of these contexts, by host."""
        named = {host.replace("_", "-"): context for host, context in contexts.items()}
        return self._stack.enter_context(open_existing_swarm(named, self.hosts))

    def refused(self, **contexts: str) -> UnavailableError:
        """Why they are refused."""
        with pytest.raises(UnavailableError) as raised:
            self.opened(**contexts)
        return raised.value


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp())  # short enough for the path of a socket
    monkeypatch.setenv("DOCKER_CONFIG", str(directory))
    spec = TestbedSpec(kind="fake", hosts={"db": 2})
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, directory)
        testbed = stack.enter_context(open_fake(spec, name="existing"))
        yield Place(directory, testbed.hosts, stack)


def test_a_further_context_may_lead_to_the_manager(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    place.context("two", in_swarm("n2"))
    place.context("boss", in_swarm("m", manager=True), THREE)
    swarm = place.opened(db_1="one", db_2="two", control="boss")
    assert isinstance(swarm, HasSwarm)
    assert (swarm.node("db-1"), swarm.node("db-2")) == ("n1", "n2")
    assert swarm.manager.url.endswith("/boss")
    assert swarm.daemon("db-2").url.endswith("/two")
    assert swarm.units("db-1") == ()
    facts = swarm.facts()
    assert facts["frozen_when_unused"] is False
    assert facts["ours"] is False
    assert facts["context"] == "db-1: one, db-2: two"
    assert (facts["nodes"], facts["managers"], facts["data_path_port"]) == (3, 1, 4789)
    assert (facts["dispatcher_heartbeat"], facts["default_pool"]) == (5.0, "10.66.0.0/16")


def test_a_manager_may_be_among_the_hosts(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    place.context("two", in_swarm("m", manager=True), THREE)
    assert place.opened(db_1="one", db_2="two").manager.host == "db-2"


def test_it_is_never_held_still_or_mended_and_its_daemons_are_not_ours(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    place.context("two", in_swarm("m", manager=True), THREE)
    swarm = place.opened(db_1="one", db_2="two")
    swarm.freeze()
    swarm.wake()
    swarm.mend("db-1")
    assert swarm.node("db-1") == "n1"
    assert not swarm.daemon("db-1").ours


def test_a_host_without_a_context_is_named(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    refusal = place.refused(db_1="one")
    assert refusal.where == "db-2"
    assert "no Docker context is named for this host under `substrate: swarm:" in refusal.what


def test_a_context_that_points_nowhere_is_told_with_the_command_that_shows_it(
    place: Place,
) -> None:
    write_context(place.directory, "gone", f"unix://{place.directory}/none")
    refusal = place.refused(db_1="gone")
    assert refusal.where == "db-1"
    assert "the daemon of Docker context `gone` does not answer" in refusal.what
    assert refusal.hint == "docker --context gone info"


def test_a_context_whose_tls_fails_is_told_with_the_command_that_shows_it(place: Place) -> None:
    write_context(place.directory, "secret", "tcp://127.0.0.1:1", certificates=True)
    refusal = place.refused(db_1="secret")
    assert refusal.where == "db-1"
    assert "the daemon of Docker context `secret` does not answer" in refusal.what
    assert refusal.hint == "docker --context secret info"


def test_a_daemon_in_no_swarm_is_refused(place: Place) -> None:
    place.context("alone")
    refusal = place.refused(db_1="alone", db_2="alone")
    assert str(refusal) == "db-1: the daemon of Docker context `alone` is in no Swarm"
    assert refusal.hint == "docker --context alone info"


def test_a_daemon_that_cannot_reach_its_swarm_says_why(place: Place) -> None:
    place.context("locked", in_swarm("n1", state="locked"))
    refusal = place.refused(db_1="locked", db_2="locked")
    assert refusal.what.endswith("cannot take part in its Swarm: it is locked, why")


def test_two_hosts_cannot_be_one_node(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    refusal = place.refused(db_1="one", db_2="one")
    assert refusal.where == "db-2"
    assert "leads to the node of `db-1`" in refusal.what


def test_without_a_manager_there_is_no_swarm_to_use(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    place.context("two", in_swarm("n2"))
    refusal = place.refused(db_1="one", db_2="two")
    assert "none of the Docker contexts `one`, `two` leads to a manager" in refusal.what
    assert "name one for `control`" in refusal.what


def test_a_node_of_another_swarm_is_named(place: Place) -> None:
    place.context("one", in_swarm("elsewhere"))
    place.context("two", in_swarm("m", manager=True), THREE)
    refusal = place.refused(db_1="one", db_2="two")
    assert refusal.where == "db-1"
    assert "context `one` is a node of another Swarm than the manager" in refusal.what


def test_a_node_that_is_down_is_named_with_what_the_manager_says(place: Place) -> None:
    place.context("one", in_swarm("n1"))
    nodes = (listed("n1", "down"), listed("m"))
    place.context("two", in_swarm("m", manager=True), nodes)
    refusal = place.refused(db_1="one", db_2="two")
    assert refusal.where == "db-1"
    assert refusal.what.endswith("says of its node: down (why)")
