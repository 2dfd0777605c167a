"""Floating addresses and nodes of someone else's: what they need, and what is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from catalog_cases import lacking, study

from dunnage import capabilities, catalog, on_demand
from dunnage.errors import StudyError, UnavailableError
from dunnage.hosts.beside import Kind
from dunnage.model.deployment import Deployment
from dunnage.model.layout import ENGINE_PROGRAM, ENGINE_TREE, Software
from dunnage.model.offer import FLOATING, Capability, Support
from dunnage.model.study import Study, SubstrateSpec, TestbedSpec
from dunnage.software import engine
from dunnage.software.trees import DebianSoftware
from dunnage.study.matrix import deployments


def floats(platform: str, **substrate: SubstrateSpec) -> tuple[Study, list[Deployment]]:
    """A study with one deployment that is reached by floating addresses."""
    read = study().model_copy(update={"substrate": substrate})
    native = deployments(read, catalog.OFFER)[0]
    network = next(iter(catalog.OFFER.platforms[platform].networks))
    keys = {"platform": platform, "network": network, "endpoint": "floating-ip"}
    return read, [native.model_copy(update=keys)]


def test_floating_addresses_need_a_machine_that_translates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine: defaultdict[Capability, Support] = defaultdict(lambda: Support(met=True))
    monkeypatch.setattr(capabilities, "supports", lambda _: machine)
    assert capabilities.lacking(*floats("native")) == ()
    machine[FLOATING] = Support(False, "no iptables here", "modprobe nf_nat")
    ((skipped, hint),) = capabilities.lacking(*floats("native"))
    assert (skipped.reason, hint) == ("no iptables here", "modprobe nf_nat")


def test_what_turns_out_not_to_translate_is_skipped_before_a_testbed_opens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Docker's iptables can be tried only when it is there: until then all seems well."""
    lacking(monkeypatch)
    refused = Support(False, "no iptables here", "modprobe nf_nat")
    monkeypatch.setattr(DebianSoftware, "translation_tried", lambda _: refused)
    read, (floating,) = floats("native")
    bridge = deployments(read, catalog.OFFER)[1]
    assert capabilities.lacking(read, [floating, bridge]) == ()
    with pytest.raises(UnavailableError, match="`native`: no iptables here") as raised:
        capabilities.available(read, [floating, bridge])
    assert raised.value.hint == "modprobe nf_nat"
    skipping = read.model_copy(update={"unavailable": "skip"})
    left, skipped = capabilities.available(skipping, [floating, bridge])
    assert left == (bridge,)
    assert [(each.deployment, each.reason) for each in skipped] == [("native", "no iptables here")]
    assert capabilities.available(skipping, [bridge]) == ((bridge,), ())


@pytest.mark.parametrize("platform", ["docker", "swarm"])
def test_what_exists_already_does_not_stand_behind_the_labs_switch(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(capabilities, "supports", lambda _: defaultdict(lambda: Support(met=True)))
    existing = SubstrateSpec(kind="existing", contexts={"db-1": "theirs"})
    with pytest.raises(UnavailableError, match="translated by the switch of a lab"):
        capabilities.available(*floats(platform, **{platform: existing}))
    assert capabilities.lacking(*floats(platform)) == ()


NODES = """\
dunnage: 1
name: theirs
testbed: {kind: nodes, context: mine, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single, image: "redis:7.0"}
deployments:
  ports: {platform: kubernetes}
workloads: [A]
load: {threads: [1], duration: 2s}
"""


def test_hosts_that_are_someone_elses_need_the_engine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs = study(NODES)
    every = deployments(theirs, catalog.OFFER)
    monkeypatch.setenv(engine.VARIABLE, str(tmp_path / "nowhere"))
    ((lacks, _),) = capabilities.lacking(theirs, every)
    assert "does not name a file" in lacks.reason
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    monkeypatch.setenv(engine.VARIABLE, str(program))
    assert capabilities.available(theirs, every) == (every, ())
    assert capabilities.here("nodes") == {}
    assert catalog.on_theirs(theirs, every[0])


def test_on_nodes_nothing_is_made_but_the_engine_and_this_machine_is_not_locked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(catalog, "measuring_alone", lambda *_: pytest.fail("it is locked"))
    monkeypatch.setattr(on_demand, "nodes_are_here", lambda _: False)
    with catalog.measuring(study(NODES), lambda _: None):
        pass
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    monkeypatch.setenv(engine.VARIABLE, str(program))
    trees = catalog.software("nodes")
    assert trees.tree(Software("redis", "7.0")).prefix.endswith("HASH")
    made = trees.tree(ENGINE_TREE).source / ENGINE_PROGRAM
    assert made.read_bytes() == program.read_bytes()


class Locked:
    """The lock of this machine, which is held by nobody else, or `refused`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refused: str = "") -> None:
        self.by: list[str] = []
        self._refused = refused
        monkeypatch.setattr(catalog, "measuring_alone", self._held)
        monkeypatch.setattr(on_demand, "nodes_are_here", lambda _: True)

    @contextmanager
    def _held(self, study: str, on_wait: Callable[[str], None]) -> Iterator[None]:
        if self._refused:
            raise UnavailableError(self._refused, hint="sudo -s")
        on_wait("waiting for another one")
        self.by.append(study)
        yield
        self.by.remove(study)


def asked_beside(monkeypatch: pytest.MonkeyPatch, *others: str) -> list[Kind]:
    """What studies say to be that ask for others; each is told of the same."""
    kinds: list[Kind] = []

    def disturbed(own: Kind) -> tuple[str, ...]:
        kinds.append(own)
        return others

    monkeypatch.setattr(catalog, "disturbed", disturbed)
    return kinds


def test_where_a_node_is_this_machine_it_is_locked_and_others_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A study of a lab beside it waits for it, as it waits for that."""
    locked = Locked(monkeypatch)
    kinds = asked_beside(monkeypatch, "beside")
    told: list[str] = []
    with catalog.measuring(study(NODES), told.append):
        assert locked.by == ["theirs"]
    assert locked.by == []
    assert told == ["waiting for another one", "beside"]
    assert kinds == [Kind.ALONE]


def test_who_may_not_lock_this_machine_has_it_as_a_node_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Locked(monkeypatch, refused="only root can")
    kinds = asked_beside(monkeypatch)
    told: list[str] = []
    with catalog.measuring(study(NODES), told.append):
        assert kinds == [Kind.UNLOCKED]
    assert told == [
        "this machine is a node, and no other study waits for this one: only root can",
        "  try: sudo -s",
    ]
    with (
        pytest.raises(UnavailableError, match="only root can"),
        catalog.measuring(study(), told.append),
    ):
        raise AssertionError("a lab is measured without its lock")


def test_on_nodes_endpoints_of_a_lab_are_refused_with_their_line() -> None:
    for endpoint in ("host-name", "floating-ip"):
        asked = f"{{platform: kubernetes, endpoint: {endpoint}}}"
        text = NODES.replace("{platform: kubernetes}", asked)
        with pytest.raises(StudyError) as raised:
            study(text)
        (found,) = raised.value.problems
        assert (found.line, found.what) == (6, f"endpoint `{endpoint}` is of the hosts of a lab")
        assert "`host-port`" in found.hint
        assert "`floating-ip`" not in found.hint


def test_a_testbed_that_is_not_of_nodes_brings_no_kubernetes() -> None:
    specs = {"kubernetes": SubstrateSpec(kind="nodes")}
    with (
        catalog.open_testbed(TestbedSpec(kind="fake"), "opened", keep=False) as testbed,
        pytest.raises(UnavailableError, match="nodes of no Kubernetes"),
        catalog.open_substrate("kubernetes", specs, testbed, testbed.hosts, keep=False),
    ):
        raise AssertionError("it was opened")


def test_hosts_get_floating_addresses_only_where_a_deployment_is_reached_by_them() -> None:
    _, reached = floats("native")
    with catalog.open_testbed(TestbedSpec(kind="fake"), "opened", keep=False) as testbed:
        catalog.translate(testbed, deployments(study(), catalog.OFFER))
        with pytest.raises(UnavailableError, match="hosts of this testbed"):
            catalog.translate(testbed, reached)
