"""Which hosts a study's substrates make necessary, and which are awake during a stay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, cast

import pytest

from dunnage import catalog
from dunnage.contracts.host import Host
from dunnage.contracts.substrate import Substrate
from dunnage.errors import StayError, UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.study import Study, SubstrateSpec
from dunnage.runner import substrates
from dunnage.runner.stay import Equipment, Stay
from dunnage.runner.substrates import awake_for, open_substrates, rest_idle, states, units_on
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study
from dunnage.substrates.kubernetes.choices import Choices

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed

STUDY = """\
dunnage: 1
name: layered
testbed: {kind: namespace, hosts: {db: 2, spare: 1, client: 1}}
database: {kind: redis, topology: single}
deployments:
  native: {platform: native}
  docker: {platform: docker, hosts: spare}
  swarm: {platform: swarm}
workloads: [A]
load: {threads: [1], duration: 2s}
"""


@dataclass
class Told:
    """A substrate that keeps what it was asked, in one list with others."""

    name: str
    history: list[str] = field(default_factory=list)

    def units(self, host: str) -> tuple[str, ...]:
        return ("daemon",) if host == "db-1" else ()

    def wake(self) -> None:
        self.history.append(f"wake {self.name}")

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        where = "" if hosts is None else f" on {', '.join(hosts)}"
        self.history.append(f"freeze {self.name}{where}")

    def mend(self, host: str) -> None:
        self.history.append(f"mend {self.name} {host}")

    def facts(self) -> Mapping[str, str]:
        return {}


@dataclass
class Given:
    """What a stay's substrates depend on."""

    study: Study
    substrates: Mapping[str, Substrate]
    testbed: Testbed | None = None


@dataclass
class Lives:
    """A stay, as far as substrates ask of it."""

    deployment: Deployment


def study(substrate: Mapping[str, SubstrateSpec] | None = None) -> Study:
    read = read_study(STUDY, "study.yaml", catalog.OFFER)
    return read.model_copy(update={"substrate": substrate or {}})


def named(name: str) -> Deployment:
    return next(each for each in deployments(study(), catalog.OFFER) if each.name == name)


def equipment(history: list[str], *, theirs: bool = False, testbed: Testbed | None = None) -> Given:
    kind = {"swarm": SubstrateSpec(kind="existing")} if theirs else None
    families = ("docker", "swarm")
    return Given(study(kind), {each: Told(each, history) for each in families}, testbed)


EVERY = deployments(study(), catalog.OFFER)


def test_a_swarm_of_ours_needs_a_control_host_beside_those_of_the_study() -> None:
    hosts = {"db": 2, "spare": 1, "client": 1}
    assert substrates.testbed_of(study(), EVERY).hosts == {**hosts, "control": 1}
    assert substrates.testbed_of(study(), EVERY[:2]).hosts == hosts
    existing = study({"swarm": SubstrateSpec(kind="existing")})
    assert substrates.testbed_of(existing, EVERY).hosts == hosts


def test_in_turns_there_is_one_control_host_for_all_places() -> None:
    turns = study().load.model_copy(update={"turns": 0.5})
    hosts = substrates.testbed_of(study().model_copy(update={"load": turns}), EVERY).hosts
    assert hosts["control"] == 1
    assert "control.2" not in hosts


@pytest.mark.parametrize(
    ("name", "theirs", "frozen"),
    [
        ("native", False, ["docker", "swarm"]),
        ("docker", False, []),
        ("swarm", False, []),
        ("native", True, ["docker"]),
        ("docker", True, []),
        ("swarm", True, ["docker"]),
    ],
)
def test_what_a_stay_does_not_need_is_held_still_unless_it_stands_on_what_it_needs(
    name: str, theirs: bool, frozen: list[str]
) -> None:
    history: list[str] = []
    given = equipment(history, theirs=theirs)
    with awake_for(cast("Equipment", given), named(name)) as told:
        assert {family for family, state in told.items() if state == "frozen"} == set(frozen)
        assert told.keys() == {"docker", "swarm"}
        assert told == states(cast("Equipment", given), named(name)), "as it is told in turns"
        assert history == [f"freeze {family}" for family in frozen]
    assert history[len(frozen) :] == [f"wake {family}" for family in reversed(frozen)]


LATE = "names of services are not found within 60 s"


@pytest.mark.parametrize("asked", ["freeze", "wake"])
def test_what_does_not_rest_or_go_on_fails_the_stay_and_not_the_study(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UnavailableError(LATE, where="db-1", hint="dunnage doctor")

    monkeypatch.setattr(Told, asked, refuse)
    native, given = named("native"), cast("Equipment", equipment([]))
    with pytest.raises(StayError, match=f"db-1: {LATE}") as failed, awake_for(given, native):
        assert asked == "wake"
    assert failed.value.hint == "dunnage doctor"


def test_what_does_not_go_on_hides_no_earlier_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnavailableError(LATE)

    monkeypatch.setattr(Told, "wake", refuse)
    native, given = named("native"), cast("Equipment", equipment([]))
    with pytest.raises(StayError, match="out of memory") as failed, awake_for(given, native):
        raise StayError("died: out of memory")
    assert failed.value.__notes__ == [f"during clean-up: {LATE}"] * 2


def test_living_together_only_hosts_that_need_nothing_of_a_family_rest() -> None:
    history: list[str] = []
    spec = substrates.testbed_of(study(), EVERY).model_copy(update={"kind": "fake"})
    with open_fake(spec, name="together") as testbed, ExitStack() as stack:
        given = equipment(history, testbed=testbed)
        stays = [Lives(named("native")), Lives(named("docker"))]
        rest_idle(cast("Equipment", given), cast("list[Stay]", stays), stack)
        assert history == ["freeze docker on db-1, db-2", "freeze swarm on db-1, db-2"]
        stack.close()
        assert history[2:] == ["wake swarm", "wake docker"]


def test_each_family_is_opened_where_it_is_needed_on_what_is_below_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[tuple[str, list[str], Substrate | None]] = []

    class Opening(Told):
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            self.history.append(f"close {self.name}")

    history: list[str] = []

    def opening(
        family: str,
        specs: object,
        testbed: object,
        hosts: tuple[Host, ...],
        below: Substrate | None,
        *,
        keep: bool,
        choices: object,
        tell: object,
    ) -> Opening:
        assert choices == Choices()
        opened.append((family, [host.name for host in hosts], below))
        return Opening(family, history)

    monkeypatch.setattr(catalog, "open_substrate", opening)
    spec = substrates.testbed_of(study(), EVERY).model_copy(update={"kind": "fake"})
    plan = Plan(study="layered", seed=1, deployments=tuple(EVERY), blocks=())
    with open_fake(spec, name="layers") as testbed, ExitStack() as stack:
        made = open_substrates(stack, study(), plan, EVERY, testbed, keep=False, tell=print)
    assert [(family, hosts) for family, hosts, _ in opened] == [
        ("docker", ["db-1", "db-2", "spare-1", "control-1"]),
        ("swarm", ["db-1", "db-2", "control-1"]),
    ]
    assert opened[0][2] is None
    assert opened[1][2] is made["docker"]
    assert history == ["close swarm", "close docker"]


def test_units_of_a_substrate_are_watched_where_it_runs() -> None:
    spec = substrates.testbed_of(study(), EVERY).model_copy(update={"kind": "fake"})
    with open_fake(spec, name="units") as testbed:
        first, second = testbed.group("db")
        assert units_on(Told("docker"), first) == {"daemon": first.control_group("daemon")}
        assert units_on(Told("docker"), second) == {}
        assert units_on(None, first) == {}
