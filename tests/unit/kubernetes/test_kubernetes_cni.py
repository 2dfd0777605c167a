"""A CNI configuration of the user's own: what it must hold, and what a node is told of it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pods_on import pods_on

from dunnage import capabilities, catalog
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.hosts.namespace import supports as kernel
from dunnage.model.cni import (
    PLACEHOLDERS,
    NodeNetwork,
    filled,
    label,
    mistakes,
    plugins_of,
    text_of,
)
from dunnage.model.offer import Support
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Option
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.kernel import INOTIFY
from dunnage.substrates.kubernetes.network import Subnet
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.kubernetes.plugins import insist_on_plugins

IPAM = {"type": "host-local", "ranges": [[{"subnet": "$SUBNET"}]]}
PTP: dict[str, Any] = {
    "cniVersion": "1.0.0",
    "name": "mine",
    "plugins": [
        {"type": "ptp", "ipam": IPAM},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}
NODE = NodeNetwork("10.67.2.0/24", "10.67.0.0/16", "10.68.0.0/16", 2)


def test_a_configuration_with_its_placeholders_is_one() -> None:
    assert list(mistakes(PTP)) == []


@pytest.mark.parametrize(
    ("change", "keys", "what"),
    [
        ({"cniVersion": None}, ("cniVersion",), "`cniVersion` must be text, not nothing"),
        ({"cniVersion": 1.0}, ("cniVersion",), "`cniVersion` must be text, not `1.0`"),
        ({"plugins": "ptp"}, ("plugins",), "`plugins` must be a list, not text"),
        ({"plugins": []}, ("plugins",), "`plugins` is empty"),
        ({"plugins": [{"type": "ptp"}, {"mtu": 1}]}, ("plugins", 1), "plugin number 2 has no"),
        ({"plugins": ["ptp"]}, ("plugins", 0), "plugin number 1 has no `type`"),
        ({"mine": ["$SUBNT"]}, ("mine", 0), "`mine` has a `$` that begins no placeholder"),
        ({"mine": "a $ b"}, ("mine",), "`mine` has a `$` that begins no placeholder"),
        ({"$mine": 1}, ("$mine",), "`$mine` has a `$` that begins no placeholder"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    change: dict[str, Any], keys: tuple[str | int, ...], what: str
) -> None:
    ((place, told, advice),) = mistakes({**PTP, **change})
    assert (place, told[: len(what)]) == (keys, what)
    assert advice


@pytest.mark.parametrize("key", ["cniVersion", "name", "plugins"])
def test_what_every_configuration_has_is_missed(key: str) -> None:
    without = {name: value for name, value in PTP.items() if name != key}
    ((place, told, _),) = mistakes(without)
    assert (place, told) == ((key,), f"`{key}` is missing in the CNI configuration")


def test_a_plugin_alone_belongs_into_a_list() -> None:
    ((_, _, advice),) = mistakes({"cniVersion": "1.0.0", "name": "mine", "type": "ptp"})
    assert advice == "put this plugin into a list: `plugins: [{type: …}]`"


def test_text_is_no_mapping() -> None:
    ((place, told, advice),) = mistakes('{"cniVersion": "1.0.0"}')
    assert (place, told) == ((), "a CNI configuration must be a mapping, not text")
    assert "without quotes" in advice


@pytest.mark.parametrize(
    "configuration",
    [
        '{"token": "GEHEIM"}',
        {**PTP, "plugins": "GEHEIM"},
        {**PTP, "token": "GEHEIM$"},
        {**PTP, "more": {"token": "$GEHEIM"}},
        {**PTP, "args": ["--token", "1 $GEHEIM$"]},
    ],
)
def test_no_text_of_it_is_repeated(configuration: object) -> None:
    ((_, told, advice),) = mistakes(configuration)
    assert "GEHEIM" not in f"{told} {advice}"


def test_its_label_is_its_name_and_differs_with_anything_in_it() -> None:
    told = label(PTP)
    assert re.fullmatch(r"mine \([0-9a-f]{8}\)", told)
    assert label(dict(reversed(PTP.items()))) == told
    assert label({**PTP, "plugins": PTP["plugins"][:1]}) != told


def test_all_of_it_is_written_as_it_is_but_for_what_a_node_alone_knows() -> None:
    told = json.loads(filled(text_of(PTP), NODE))
    assert told["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.67.2.0/24"}]]
    told["plugins"][0]["ipam"] = IPAM
    assert told == PTP


def test_every_placeholder_stands_for_something_and_two_signs_for_one() -> None:
    written = {"all": " ".join(f"${{{name}}}" for name in PLACEHOLDERS), "sign": "$$5"}
    told = json.loads(filled(text_of(written), NODE))
    assert told == {"all": "10.67.2.0/24 10.67.0.0/16 10.68.0.0/16 2", "sign": "$5"}


def test_what_gives_addresses_is_a_plugin_only_where_it_is_named() -> None:
    alone = {"plugins": [{"type": "dummy", "ipam": {}}, {"type": "dummy", "ipam": "none"}]}
    assert plugins_of(alone) == ("dummy",)


def test_every_plugin_that_is_called_must_be_there(tmp_path: Path) -> None:
    assert plugins_of(PTP) == ("ptp", "host-local", "portmap")
    for name in ("ptp", "host-local"):
        (tmp_path / name).write_text("")
    with pytest.raises(UnavailableError, match="no CNI plugin `portmap`") as refused:
        insist_on_plugins(text_of(PTP), tmp_path)
    assert refused.value.hint == f"ls {tmp_path}"
    (tmp_path / "portmap").write_text("")
    insist_on_plugins(text_of(PTP), tmp_path)
    insist_on_plugins("", tmp_path / "nowhere")


def binaries(plugins: Path) -> KubernetesBinaries:
    return KubernetesBinaries(Path("/b"), plugins, Path("/p"), {}, "1", "test")


def test_a_plugin_that_is_missing_is_told_before_anything_starts(tmp_path: Path) -> None:
    chosen = Choices(Network.CNI, configuration=text_of(PTP))
    with (
        open_fake(TestbedSpec(kind="fake", hosts={"db": 1, "control": 1}), name="k") as testbed,
        pytest.raises(UnavailableError, match="no CNI plugin `ptp`"),
        open_kubernetes(testbed, binaries(tmp_path), testbed.hosts, chosen),
    ):
        pass


def test_each_node_is_told_its_own_range_and_number() -> None:
    written = text_of({"range": "$SUBNET of $PODS, not $SERVICES", "number": "$NUMBER"})
    chosen = Choices(Network.CNI, configuration=written)
    spec = TestbedSpec(kind="fake", hosts={"db": 2, "control": 1})
    with open_fake(spec, name="kubernetes") as testbed:
        own = OwnKubernetes(testbed, binaries(Path("/c")), testbed.hosts, chosen)
        _, second = testbed.group("db")
        told = json.loads(own._configuration(second, Subnet("10.67.5.0/24")))
        ranges = own.plane.ranges
        assert told["number"] == "2"
        assert told["range"] == f"10.67.5.0/24 of {ranges.pods}, not {ranges.services}"
        bridges = OwnKubernetes(testbed, binaries(Path("/c")), testbed.hosts, Choices())
        ours = json.loads(bridges._configuration(second, Subnet("10.67.5.0/24")))
        assert ours["plugins"][0]["type"] == "bridge"


def test_a_configuration_of_the_users_is_the_same_whatever_the_order_of_its_keys() -> None:
    one = pods_on("cni", configuration={"name": "mine", "plugins": [{"type": "ptp"}]})
    other = pods_on("cni", configuration={"plugins": [{"type": "ptp"}], "name": "mine"})
    wanted = catalog.choices([one, other])
    assert (wanted.network, wanted.proxy) == (Network.CNI, ProxyMode.IPTABLES)
    assert json.loads(wanted.configuration) == {"name": "mine", "plugins": [{"type": "ptp"}]}
    for name in ("mine", "other"):
        with pytest.raises(UnavailableError, match="one network of pods") as refused:
            catalog.choices([one, pods_on("cni", configuration={"name": name})])
        asked = re.findall(r"`cni` with .+? and configuration `(.+?)`", refused.value.what)
        assert [each.partition(" ")[0] for each in asked] == ["mine", name]
        assert len(set(asked)) == 2


@pytest.mark.parametrize(("network", "given"), [("bridge", {"name": "mine"}), ("cni", "mine")])
def test_a_configuration_and_its_network_go_together(network: str, given: Option) -> None:
    with pytest.raises(UnavailableError, match="`configuration` and the network `cni`"):
        catalog.choices([pods_on(network, configuration=given)])


SKIPPING = """\
dunnage: 1
name: offered
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis}
deployments:
  native: {platform: native}
workloads: [A]
load: {threads: [1], duration: 2s}
unavailable: skip
"""


@pytest.mark.parametrize(
    ("plugin", "kept", "tried"),
    [("macvlan", "no macvlan here", ["macvlan"]), ("ipvlan", "", ["ipvlan"]), ("ptp", "", [])],
)
def test_a_kernel_without_a_kind_of_interfaces_keeps_only_those_back_that_need_it(
    monkeypatch: pytest.MonkeyPatch, plugin: str, kept: str, tried: list[str]
) -> None:
    """Each kind is tried once, however many deployments need it."""
    asked: list[str] = []

    def sharing(kind: str) -> Support:
        asked.append(kind)
        return Support(kind != "macvlan", f"no {kind} here", f"modprobe {kind}")

    monkeypatch.setattr(capabilities, "supports", lambda _: defaultdict(lambda: Support(True)))
    monkeypatch.setattr(kernel, "sharing", sharing)
    monkeypatch.setattr(kernel, "inotify_room", lambda _: Support(True))
    study = read_study(SKIPPING, "study.yaml", catalog.OFFER)
    native, *_ = deployments(study, catalog.OFFER)
    pods = pods_on("cni", configuration={"name": "mine", "plugins": [{"type": plugin}]})
    every = (native, pods, pods.model_copy(update={"name": "twin"}))
    left, skipped = capabilities.available(study, every)
    assert [each.name for each in left] == (["native"] if kept else ["native", "pods", "twin"])
    assert [each.reason for each in skipped] == ([kept, kept] if kept else [])
    assert asked == tried


def test_a_machine_without_room_for_its_hosts_keeps_a_kubernetes_back_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def room(needed: int) -> Support:
        asked.append(needed)
        return Support(False, f"{needed} inotify instances are needed", "sysctl x=1")

    monkeypatch.setattr(capabilities, "supports", lambda _: defaultdict(lambda: Support(True)))
    monkeypatch.setattr(kernel, "inotify_room", room)
    study = read_study(SKIPPING, "study.yaml", catalog.OFFER)
    (native,) = deployments(study, catalog.OFFER)
    pods = pods_on("flannel-vxlan")
    found = capabilities.lacking(study, (native, pods, pods.model_copy(update={"name": "twin"})))
    assert [(each.deployment, hint) for each, hint in found] == [
        (pods.name, "sysctl x=1"),
        ("twin", "sysctl x=1"),
    ]
    hosts_and_control = 3 + 1 + 1
    assert asked == [hosts_and_control * INOTIFY]


def test_places_in_turns_need_room_for_the_hosts_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def room(needed: int) -> Support:
        asked.append(needed)
        return Support(True)

    monkeypatch.setattr(capabilities, "supports", lambda _: defaultdict(lambda: Support(True)))
    monkeypatch.setattr(kernel, "inotify_room", room)
    study = read_study(SKIPPING, "study.yaml", catalog.OFFER)
    in_turns = study.load.model_copy(update={"turns": 1.0})
    (native,) = deployments(study, catalog.OFFER)
    every = (native, pods_on("flannel-vxlan"), native.model_copy(update={"name": "twin"}))
    assert capabilities.lacking(study.model_copy(update={"load": in_turns}), every) == ()
    three_places, client, control = 3 * 3, 1, 1
    assert asked == [(three_places + client + control) * INOTIFY]
