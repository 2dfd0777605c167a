"""What the catalog names can be made, and what cannot run here is refused with every reason."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from catalog_cases import FAKE, STUDY, Everything, lacking, study

from dunnage import capabilities, catalog
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.contracts.testbed import HasNetworks
from dunnage.errors import StudyError, UnavailableError
from dunnage.hosts.fake.testbed import FakeTestbed, open_fake
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.hosts.nodes.testbed import NodesTestbed
from dunnage.model.choices import ClientPlace
from dunnage.model.deployment import Deployment
from dunnage.model.offer import SubstrateOffer, Support
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import Limits, QuestionSpec, SubstrateSpec, TestbedSpec
from dunnage.model.value import Scalar
from dunnage.platforms.kubernetes.asked_network import ASKED
from dunnage.platforms.offered import EXISTING, HOST
from dunnage.software.engine import SOFT_INTERRUPTS
from dunnage.software.trees import DebianSoftware
from dunnage.study.matrix import deployments
from dunnage.substrates.kubernetes.choices import Choices, Network


def test_all_can_run_where_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch)
    every = deployments(study(), catalog.OFFER)
    assert capabilities.available(study(), every) == (tuple(every), ())


def test_without_docker_every_deployment_that_needs_it_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking(monkeypatch, docker="no dockerd is on PATH")
    with pytest.raises(UnavailableError) as raised:
        capabilities.available(study(), deployments(study(), catalog.OFFER))
    assert raised.value.what == ("cannot run here: `bridge`, `own`: no dockerd is on PATH")
    assert raised.value.hint == "get docker"
    assert raised.value.exit_code == 3


def test_everything_that_is_missing_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, docker="no dockerd", root="not root", engine="not built")
    with pytest.raises(UnavailableError) as raised:
        capabilities.available(study(), deployments(study(), catalog.OFFER))
    told = raised.value.what
    assert "`native`: not root; not built; `bridge`, `own`:" in told
    assert told.count("no dockerd") == 1


def test_a_study_may_skip_what_cannot_run_and_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, docker="no dockerd is on PATH")
    skipping = study(STUDY + "unavailable: skip\n")
    left, skipped = capabilities.available(skipping, deployments(skipping, catalog.OFFER))
    assert [each.name for each in left] == ["native"]
    assert [(each.deployment, each.reason) for each in skipped] == [
        ("bridge", "no dockerd is on PATH"),
        ("own", "no dockerd is on PATH"),
    ]


def test_nothing_left_is_refused_even_where_skipping_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking(monkeypatch, root="not root")
    skipping = study(STUDY + "unavailable: skip\n")
    with pytest.raises(UnavailableError, match="not root"):
        capabilities.available(skipping, deployments(skipping, catalog.OFFER))


def test_existing_daemons_need_no_dockerd_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, docker="no dockerd is on PATH")
    contexts = "{db-1: one, db-2: two, db-3: three, client-1: four}"
    existing = study(STUDY + f"substrate: {{docker: {{kind: existing, contexts: {contexts}}}}}\n")
    left, skipped = capabilities.available(existing, deployments(existing, catalog.OFFER))
    assert len(left) == 3
    assert skipped == ()


def test_every_need_of_a_part_is_looked_for_on_this_machine() -> None:
    offer = catalog.OFFER
    needs = {need for database in offer.databases.values() for need in database.needs}
    for platform in offer.platforms.values():
        needs |= {
            need
            for network in platform.networks
            for endpoint in platform.networks[network].endpoints
            for need in platform.needs_of(network, endpoint)
        }
    assert needs <= capabilities.supports("namespace").keys()


def test_room_for_a_kubernetes_is_told_by_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Support(met=False, reason="50 inotify instances are needed", hint="sysctl x=1")
    monkeypatch.setattr(kernel, "inotify_room", lambda needed: full if needed >= 50 else None)
    assert capabilities.supports("namespace")[capabilities.INSTANCES] == full


def test_fakes_can_run_anywhere() -> None:
    assert all(support.met for support in capabilities.supports("fake").values())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FAKE.replace("{platform: fake}", "{platform: docker}"), "`docker` cannot run on fake"),
        (FAKE.replace("{platform: fake}", "{platform: native}"), "`native` cannot run on fake"),
        (
            STUDY.replace("{platform: native}", "{platform: fake}"),
            "a fake platform can run on fake",
        ),
    ],
)
def test_a_platform_that_does_not_fit_its_hosts_is_a_mistake_of_the_study(
    text: str, told: str
) -> None:
    with pytest.raises(StudyError) as raised:
        study(text)
    (problem,) = raised.value.problems
    assert told in problem.what
    assert problem.hint.startswith("write ")
    assert problem.line == 6


def test_every_name_on_offer_can_be_made() -> None:
    offer = catalog.OFFER
    assert set(offer.databases) == set(catalog.DATABASES)
    assert set(offer.platforms) == set(catalog.PLATFORMS)
    assert set(offer.generators) == set(catalog.GENERATORS)
    assert set(offer.samplers) == set(catalog.SAMPLERS)
    for database in catalog.DATABASES.values():
        assert callable(database().layout)
    for generator in catalog.GENERATORS.values():
        assert callable(generator().parse)
    for sampler in catalog.SAMPLERS.values():
        assert callable(sampler().parse)
    families = {each.substrate for each in offer.platforms.values()} - {None}
    assert families <= offer.substrates.keys()


@pytest.mark.parametrize("text", [STUDY, FAKE], ids=["real", "fake"])
def test_every_platform_can_be_made_for_every_network_endpoint_and_storage(text: str) -> None:
    read = study(text)
    (example, *_) = deployments(read, catalog.OFFER)
    fakes = example.platform == "fake"
    trees = catalog.software(read.testbed.kind)
    with ExitStack() as stack:
        spec = TestbedSpec(kind="fake")
        testbed = stack.enter_context(catalog.open_testbed(spec, "made", keep=False))
        substrate = Everything(testbed, testbed.hosts)
        made = set()
        for name, platform in catalog.OFFER.platforms.items():
            if (name == "fake") != fakes:
                continue
            for network, chosen in platform.networks.items():
                for endpoint in chosen.endpoints:
                    for storage in platform.storages:
                        keys = {"platform": name, "network": network, "endpoint": endpoint}
                        variant = example.model_copy(update={**keys, "storage": storage})
                        assert catalog.platform(variant, testbed, substrate, trees, "stay")
                        assert catalog.family(variant) == platform.substrate
                        made.add(name)
        assert made == ({"fake"} if fakes else catalog.OFFER.platforms.keys() - {"fake"})


def on_kubernetes(*networks: tuple[str, str]) -> list[Deployment]:
    """A deployment for each network, with a kind of proxy where one is named."""
    native = deployments(study(), catalog.OFFER)[0]
    return [
        native.model_copy(
            update={
                "platform": "kubernetes",
                "network": network,
                "network_options": {"proxy": proxy} if proxy else {},
            }
        )
        for network, proxy in networks
    ]


def test_a_kubernetes_of_ours_has_what_the_deployments_on_it_ask_for() -> None:
    others = deployments(study(), catalog.OFFER)
    assert catalog.choices(others) == Choices()
    asked = on_kubernetes(("flannel-vxlan", "nftables"), ("host", ""))
    wanted = Choices(Network.FLANNEL_VXLAN, ProxyMode.NFTABLES)
    assert catalog.choices([*others, *asked]) == wanted
    assert catalog.choices(on_kubernetes(("bridge", ""))).proxy is ProxyMode.IPTABLES


def test_only_a_question_about_soft_interrupts_needs_them_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking(monkeypatch, **{SOFT_INTERRUPTS: "the process lacks CAP_BPF"})
    sampled = study(f"{STUDY}sampler: {{soft_interrupts: true}}\n")
    assert capabilities.lacking(sampled, deployments(sampled, catalog.OFFER)) == ()
    question = QuestionSpec(baseline="native", against=("bridge",), metric="soft.bridge")
    asking = sampled.model_copy(update={"questions": {"Q": question}})
    found = capabilities.lacking(asking, deployments(asking, catalog.OFFER))
    assert {skipped.reason for skipped, _ in found} == {"the process lacks CAP_BPF"}
    assert len(found) == len(deployments(asking, catalog.OFFER))
    with pytest.raises(UnavailableError, match="the process lacks CAP_BPF"):
        capabilities.available(asking, deployments(asking, catalog.OFFER))


def test_a_testbed_offers_networks_if_its_hosts_have_some() -> None:
    made = {"namespace": NamespaceTestbed, "nodes": NodesTestbed, "fake": FakeTestbed}
    assert made.keys() == catalog.OFFER.testbeds.keys()
    for kind, testbed in made.items():
        assert catalog.OFFER.testbeds[kind].networks is issubclass(testbed, HasNetworks)


def test_only_a_proxy_by_ipvs_needs_that_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, ipvs="no IPVS here")
    able, unable = on_kubernetes(("bridge", "nftables"), ("bridge", "ipvs"))
    assert capabilities.lacking(study(), [able]) == ()
    ((skipped, hint),) = capabilities.lacking(study(), [unable])
    assert (skipped.reason, hint) == ("no IPVS here", "get ipvs")
    lacking(monkeypatch, **{"ip-sets": "no sets here"})
    assert capabilities.lacking(study(), [able]) == ()
    ((skipped, hint),) = capabilities.lacking(study(), [unable])
    assert (skipped.reason, hint) == ("no sets here", "get ip-sets")


def test_a_clients_host_is_one_of_the_cluster_where_it_must_be_to_reach_an_endpoint() -> None:
    (asked,) = on_kubernetes(("bridge", ""))
    assert catalog.groups_of(asked) == {"db"}
    for change in ({"endpoint": "service-ip"}, {"client": ClientPlace.CONTAINER}):
        assert catalog.groups_of(asked.model_copy(update=change)) == {"db", "client"}


def test_it_is_known_of_every_network_of_pods_what_its_name_says() -> None:
    assert {*ASKED, HOST} == catalog.OFFER.platforms["kubernetes"].networks.keys()
    assert ASKED.keys() - {EXISTING} == {str(each) for each in Network}


def test_a_kubernetes_has_one_network_and_one_kind_of_proxy() -> None:
    told = "`bridge` with proxy `iptables`, `flannel-vxlan` with proxy `iptables`"
    with pytest.raises(UnavailableError, match=told):
        catalog.choices(on_kubernetes(("flannel-vxlan", ""), ("bridge", "iptables")))


@pytest.mark.parametrize("options", [{"proxy": "userspace"}, {"mtu": 1400}])
def test_an_option_that_a_network_of_pods_has_not_is_refused(options: dict[str, Scalar]) -> None:
    (asked,) = on_kubernetes(("bridge", ""))
    with open_fake(TestbedSpec(kind="fake"), name="made") as testbed:
        substrate = Everything(testbed, testbed.hosts)
        named = asked.model_copy(update={"network_options": options})
        with pytest.raises(UnavailableError, match=next(iter(options))):
            catalog.platform(named, testbed, substrate, catalog.software("fake"), "stay")
    with pytest.raises(UnavailableError, match=next(iter(options))):
        catalog.choices([named])


def test_a_pod_cannot_have_a_limit_of_processes() -> None:
    (asked,) = on_kubernetes(("bridge", ""))
    with open_fake(TestbedSpec(kind="fake"), name="made") as testbed:
        substrate = Everything(testbed, testbed.hosts)
        limited = asked.model_copy(update={"limits": Limits(pids=10)})
        with pytest.raises(UnavailableError, match="pids"):
            catalog.platform(limited, testbed, substrate, catalog.software("fake"), "stay")


@pytest.mark.parametrize(
    ("platform", "needed"),
    [
        ("docker", "a Docker daemon on every host"),
        ("swarm", "a Docker Swarm of all hosts"),
        ("kubernetes", "a Kubernetes of all hosts"),
    ],
)
def test_a_platform_of_containers_needs_what_it_stands_on(platform: str, needed: str) -> None:
    asked = deployments(study(), catalog.OFFER)[0].model_copy(update={"platform": platform})
    told = f"platform `{platform}` needs {needed}"
    with (
        open_fake(TestbedSpec(kind="fake"), name="made") as testbed,
        pytest.raises(UnavailableError, match=told) as refused,
    ):
        catalog.platform(asked, testbed, None, catalog.software("fake"), "stay")
    assert (refused.value.where, refused.value.hint) == (asked.name, "dunnage doctor")


def test_a_kind_of_substrate_that_nothing_opens_is_told_with_the_key_to_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = replace(catalog.OFFER, substrates={"fake": {"odd": SubstrateOffer()}})
    monkeypatch.setattr(catalog, "OFFER", odd)
    told = "nothing opens a substrate `fake` of the kind `odd`"
    with (
        open_fake(TestbedSpec(kind="fake"), name="odd") as testbed,
        pytest.raises(UnavailableError, match=told) as refused,
    ):
        catalog.open_substrate("fake", {}, testbed, testbed.hosts, keep=False)
    assert refused.value.hint == "dunnage schema study  # the key `substrate`"


def test_families_are_named_once_in_a_stable_order() -> None:
    every = deployments(study(), catalog.OFFER)
    assert catalog.families(study(), every) == ("docker",)
    assert catalog.families(study(), ()) == ()


def test_what_a_family_stands_on_comes_before_it() -> None:
    mixed = study()
    native = deployments(mixed, catalog.OFFER)[0]
    swarm = native.model_copy(update={"platform": "swarm"})
    assert catalog.layers(mixed, native) == ()
    assert catalog.layers(mixed, swarm) == ("docker", "swarm")
    assert catalog.families(mixed, [swarm, native]) == ("docker", "swarm")
    theirs = mixed.model_copy(update={"substrate": {"swarm": SubstrateSpec(kind="existing")}})
    assert catalog.layers(theirs, swarm) == ("swarm",)


def test_a_swarm_of_ours_is_not_made_on_anything_but_daemons_of_ours() -> None:
    spec = TestbedSpec(kind="fake", hosts={"db": 1})
    with (
        catalog.open_testbed(spec, "opened", keep=False) as testbed,
        pytest.raises(UnavailableError, match="a Swarm of ours needs Docker daemons of ours"),
    ):
        catalog.open_substrate("swarm", {}, testbed, testbed.hosts, None, keep=False)


def test_a_kubernetes_is_made_of_hosts_of_which_one_is_for_control(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    binaries = KubernetesBinaries(tmp_path, tmp_path, tmp_path, {}, "1", "test")
    monkeypatch.setattr(DebianSoftware, "kubernetes", lambda _, tell: tell("built") or binaries)
    monkeypatch.setattr(kernel, "inotify_room", lambda _: Support(met=True))
    specs = {"kubernetes": SubstrateSpec(kind="own")}
    with (
        catalog.open_testbed(TestbedSpec(kind="fake"), "opened", keep=False) as testbed,
        pytest.raises(UnavailableError, match="needs a host of the group `control`"),
        catalog.open_substrate("kubernetes", specs, testbed, testbed.hosts, keep=False),
    ):
        raise AssertionError("it was opened")


def test_a_level_that_more_copies_must_answer_than_there_are_is_refused_with_its_line() -> None:
    text = STUDY.replace(
        "database: {kind: redis}",
        "database: {kind: cassandra, members: 2, consistency: {read: THREE, write: TWO}}",
    )
    with pytest.raises(StudyError) as refused:
        study(text)
    (problem,) = refused.value.problems
    assert problem.line == 4
    assert "`read: THREE` needs 3 copies to answer, and each record has 2" in problem.what
