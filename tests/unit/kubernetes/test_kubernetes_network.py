"""The way to pods, as their hosts print it, and whether it is the one that was asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pods_on import pods_on

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import Seen
from dunnage.errors import StayError
from dunnage.platforms.kubernetes import network, proxies
from dunnage.platforms.kubernetes.asked_network import asked_of
from dunnage.platforms.kubernetes.asking import ASK

ASKED = """\
bpftool absent bpftool
devices absent bpftool
group absent bpftool
tracked found 7
raw found 0
ruleset found 0
iptables found iptables v1.8.9 (nf_tables)
lists found 1
listed found 3
maps found 0
mapped found 2
virtual failed cat cat: /proc/self/net/ip_vs: No such file or directory
"""
"""What tools answered, where a host tracks connections and kube-proxy's rules are of iptables."""
IPVS = """\
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  0A440001:01BB rr
  -> 0A4D0005:192B      Masq    1      0          0
UDP  0A44000A:0035 rr
  -> 0A4D0005:0035      Masq    1      0          0
TCP  [fd00:0000:0000:0000:0000:0000:0000:0001]:01BB rr
  -> [fd00:0000:0000:0000:0000:0000:0000:0005]:192B      Masq    1      0          0
"""
"""What a kernel shows of two services and their servers, and of one by IPv6."""
NO_PROXY = {"lists": "found 0", "listed": "found 0", "mapped": "found 0"}


def answered(changes: Mapping[str, str]) -> str:
    """What tools answered, some of it otherwise."""
    lines = (line.split(maxsplit=1) for line in ASKED.splitlines())
    return "".join(f"{name} {changes.get(name, rest)}\n" for name, rest in lines)


def printed(
    changes: Mapping[str, str] | None = None,
    *,
    hairpin: bool | None = True,
    device: str | None = "flannel.1",
    more: str = "flannel.2",
    maker: str = "boot",
) -> str:
    """What a host prints of a pod's network: without a device it knows no route to pods of other
    hosts, and of None there are no such pods."""
    slave = {} if hairpin is None else {"hairpin": hairpin}
    links = [
        {"ifindex": 7, "ifname": "veth1", "master": "cni0", "linkinfo": {"info_slave_data": slave}},
        {"ifindex": 3, "ifname": "flannel.1", "linkinfo": {"info_kind": "vxlan"}},
        {"ifindex": 2, "ifname": "eth0"},
        {"ifindex": 9, "ifname": more, "linkinfo": {"info_kind": "dummy"}},
    ]
    own = {"ifname": "eth0", "mtu": 1450, "link_index": 7, "linkinfo": {"info_kind": "veth"}}
    pod = [{"ifname": "lo"}, {**own, "addr_info": [{"local": "10.67.1.2"}]}]
    route = json.dumps([{"dst": "10.67.2.3", "dev": device}]) if device else ""
    made = json.dumps([{"dst": "10.67.2.0/24", "protocol": maker}]) if device else ""
    ways = {"routes": route, "routing": f"{made}\nflannel"} if device is not None else {}
    parts = {
        "host": json.dumps(links),
        "pod": json.dumps(pod),
        **ways,
        "asked": answered(changes or {}),
        "end": "",
    }
    return "".join(f"@@dunnage {name}\n{text}\n" for name, text in parts.items())


def told(text: str) -> dict[str, str]:
    return network.told(text, "10.67.1.2")


def named(encapsulation: str, proxy: str) -> dict[str, str]:
    """What a deployment's network says of itself."""
    return {"encapsulation": encapsulation, "proxy": proxy}


def test_what_pods_hang_on_is_read_from_their_kernels() -> None:
    assert told(printed()) == {
        "driver": "bridge",
        "mtu": "1450",
        "bridge": "cni0",
        "hairpin": "on",
        "encapsulation": "vxlan",
        "routing": "flannel",
        "proxy": "iptables",
        "translations": "5",
        "iptables": "v1.8.9 (nf_tables)",
        "conntrack": "tracked",
        "notrack": "none",
        "ebpf_tc": "unknown: this host has no bpftool",
        "ebpf_xdp": "0",
        "ebpf_cgroup": "unknown: this host has no bpftool",
    }


def test_what_is_not_there_is_none_and_what_is_not_told_is_unknown() -> None:
    bare = told(printed(NO_PROXY, hairpin=None, device=""))
    assert (bare["hairpin"], bare["proxy"], bare["translations"]) == ("unknown", "none", "0")
    assert bare["encapsulation"] == "unknown: `ip route get` tells no route"
    assert bare["routing"] == "unknown: `ip route get fibmatch` tells no route"
    routed = told(printed(hairpin=False, device="eth0", maker="static"))
    assert (routed["hairpin"], routed["encapsulation"]) == ("off", "none")
    assert routed["routing"] == "static"


NO_IPTABLES = {"lists": "absent iptables", "listed": "absent iptables"}
NO_NFT = {"maps": "absent nft", "mapped": "absent nft"}
LOCKED = {"lists": "failed iptables locked by 7", "listed": "failed iptables locked by 7"}
DENIED = {"maps": "failed nft not permitted", "mapped": "failed nft not permitted"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (NO_IPTABLES | NO_NFT, "this host has no iptables and this host has no nft"),
        (LOCKED, "iptables fails: locked by 7"),
        (NO_PROXY | DENIED, "nft fails: not permitted"),
    ],
)
def test_a_host_whose_tool_is_missing_or_fails_does_not_know_that_there_is_no_proxy(
    changes: Mapping[str, str], why: str
) -> None:
    lacking = told(printed(changes))
    assert lacking["proxy"] == lacking["translations"] == f"unknown: {why}"
    network.insist_asked_for({"db-1": lacking}, named("vxlan", "iptables"), "port")


def test_what_one_tool_shows_is_known_whatever_becomes_of_the_other() -> None:
    for other in (NO_NFT, DENIED):
        found = told(printed(other))
        assert (found["proxy"], found["translations"]) == ("iptables", "3")
    both = told(printed({"maps": "found 1", "mapped": "found 4"}))
    assert (both["proxy"], both["translations"]) == ("iptables and nftables", "7")


def test_translations_that_cannot_be_counted_are_unknown_beside_a_proxy_that_is_there() -> None:
    found = told(printed({"listed": "failed iptables locked by 7"}))
    assert (found["proxy"], found["translations"]) == (
        "iptables",
        "unknown: iptables fails: locked by 7",
    )


def test_which_iptables_makes_rules_is_told_or_why_not() -> None:
    legacy = told(printed({"iptables": "found iptables v1.8.9 (legacy)"}))
    assert legacy["iptables"] == "v1.8.9 (legacy)"
    none = told(printed({"iptables": "absent iptables"}))
    assert none["iptables"] == "unknown: this host has no iptables"


def test_chains_of_iptables_are_not_taken_for_its_proxy_where_that_is_ipvs() -> None:
    found = told(printed(more="kube-ipvs0"))
    assert (found["proxy"], found["iptables"]) == ("ipvs", "v1.8.9 (nf_tables)")
    assert found["translations"].startswith("unknown: cat fails: ")
    with pytest.raises(StayError, match="should be `iptables` and is `ipvs` on db-1"):
        network.insist_asked_for({"db-1": found}, named("vxlan", "iptables"), "port")


def test_servers_behind_ipvs_are_counted_as_its_translations() -> None:
    found = told(printed({"virtual": "found 12"}, more="kube-ipvs0"))
    assert (found["proxy"], found["translations"]) == ("ipvs", "12")
    network.insist_asked_for({"db-1": found}, named("vxlan", "ipvs"), "port")


def test_of_what_ipvs_shows_its_servers_are_counted(tmp_path: Path) -> None:
    shown = tmp_path / "ip_vs"
    shown.write_text(IPVS)
    script = proxies.SCRIPT.replace("/proc/self/net/ip_vs", str(shown))
    asked = subprocess.run(["sh", "-c", ASK + script], capture_output=True, text=True, check=True)
    assert "virtual found 3\n" in asked.stdout


def test_a_pod_on_no_bridge_is_told_by_the_kind_of_its_interface() -> None:
    plain = printed().replace('"link_index": 7', '"link_index": 99')
    assert told(plain)["driver"] == "veth"
    with pytest.raises(ValueError, match=r"10\.0\.0\.1"):
        network.told(printed(), "10.0.0.1")


def test_a_pod_on_the_wire_is_wrapped_and_tracked_only_by_what_its_interface_shares() -> None:
    """The host's routes, to `flannel.1` here, are not those of its packets, and only what the host
    wraps passes its rules."""
    macvlan = printed().replace('"info_kind": "veth"', '"info_kind": "macvlan"')
    found = told(macvlan)
    assert (found["driver"], found["encapsulation"], found["routing"]) == (
        "macvlan",
        "none",
        "none",
    )
    assert found["conntrack"] == "not tracked"
    assert "hairpin" not in found
    wrapped = told(macvlan.replace('"link_index": 7', '"link_index": 3'))
    assert (wrapped["encapsulation"], wrapped["conntrack"]) == ("vxlan", "tracked")
    strange = told(macvlan.replace('"link_index": 7', '"link_index": 99'))
    assert strange["encapsulation"].startswith("unknown: the interface below")
    assert strange["routing"] == strange["conntrack"] == strange["encapsulation"]


OWN = '"link_index": 7, "linkinfo": {"info_kind": "veth"}'
LAYER_3 = '"link_index": 7, "linkinfo": {"info_kind": "ipvlan", "info_data": {"mode": "l3s"}}'


@pytest.mark.parametrize(
    ("interface", "driver", "way"),
    [
        (OWN.replace("veth", "vlan"), "vlan", ("none", "none")),
        ('"group": "default"', "none", ("none", "none")),  # the host's own, given to the pod
        ('"linkinfo": {"info_kind": "wireguard"}', "wireguard", ("wireguard", "none")),
        (OWN.replace("veth", "ipvlan"), "ipvlan", ("none", "none")),
        (LAYER_3, "ipvlan", ("vxlan", "flannel")),
        (OWN.replace("veth", "netkit"), "netkit", ("vxlan", "flannel")),
    ],
)
def test_routes_of_a_host_count_only_for_pods_that_leave_the_way_to_it(
    interface: str, driver: str, way: tuple[str, str]
) -> None:
    found = told(printed().replace(OWN, interface))
    assert (found["driver"], (found["encapsulation"], found["routing"])) == (driver, way)
    assert found["conntrack"] == ("not tracked" if way[0] == "none" else "tracked")


@dataclass
class Wired:
    """A host whose script prints what a test says."""

    script: str
    name: str = "db-1"
    address: str = "10.77.0.1"
    asked: str = ""

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        self.asked += argv[-1]
        own = [{"ifname": "eth0", "mtu": 1500, "addr_info": [{"local": self.address}]}]
        return Completed(0, json.dumps(own) if argv[0] == "ip" else self.script, "")


def host_of_client(device: str | None = "flannel.1") -> Any:
    return Wired(printed(device=device), "client-1", "10.77.0.9")


def alone(client: Any = None, script: str = printed(device=None)) -> dict[str, dict[str, str]]:
    """What is in force where one host has pods."""
    host: Any = Wired(script)
    addresses = "10.67.1.2", "10.67.1.7"
    pods = [network.Pod(host, Seen(7, "/pods/p/c1"), each, {}) for each in addresses]
    clients = [network.ClientNode(client, {"PATH": "/tools"})] if client is not None else []
    return network.in_force(pods, clients, host_network=False)


def test_the_way_to_members_of_one_host_is_asked_of_the_host_of_their_client() -> None:
    client = host_of_client()
    ways = alone(client)
    assert ways["client-1"] == {
        "encapsulation": "vxlan",
        "routing": "flannel",
        "proxy": "iptables",
        "translations": "5",
        "iptables": "v1.8.9 (nf_tables)",
    }
    assert "export PATH=/tools" in client.asked
    assert "ip -json route get 10.67.1.2\nip -json route get 10.67.1.7\n" in client.asked
    told = network.merged(ways)
    assert (told["driver"], told["encapsulation"], told["routing"]) == (
        "bridge",
        "vxlan",
        "flannel",
    )
    assert "one host" not in str(told)
    network.insist_asked_for(ways, wanted("flannel-vxlan"), "port")
    with pytest.raises(StayError, match="should be `none` and is `vxlan` on client-1"):
        network.insist_asked_for(ways, wanted("flannel-host-gw"), "port")


def test_only_where_members_and_clients_share_a_host_there_is_no_way_between_hosts() -> None:
    for ways in (alone(), alone(Wired(printed()))):
        (told,) = ways.values()
        assert told["encapsulation"] == told["routing"] == "none: one host"
        network.insist_asked_for(ways, wanted("flannel-vxlan"), "port")


def test_hosts_of_clients_have_no_route_to_pods_that_are_on_the_wire() -> None:
    """But they translate what goes to services."""
    macvlan = printed(device=None).replace('"info_kind": "veth"', '"info_kind": "macvlan"')
    client = host_of_client(device=None)
    told = network.merged(alone(client, macvlan))
    assert "route get" not in client.asked
    assert (told["encapsulation"], told["routing"], told["proxy"]) == ("none", "none", "iptables")


def test_of_members_with_their_hosts_network_what_sees_their_packets_is_told() -> None:
    host: Any = Wired(printed())
    pods = [network.Pod(host, Seen(7, "/pods/p/c1"), "10.67.1.2", {})] * 2
    clients = [network.ClientNode(host_of_client(), {})]
    (outside,) = network.in_force(pods, clients, host_network=True).values()
    assert (outside["conntrack"], outside["notrack"], outside["ebpf_xdp"]) == (
        "tracked",
        "none",
        "0",
    )
    assert (outside["driver"], outside["interface"], outside["mtu"]) == ("host", "eth0", "1500")
    assert not outside.keys() & {"encapsulation", "routing", "proxy", "hairpin"}
    (inside,) = network.in_force(pods, [], host_network=False).values()
    assert (inside["driver"], inside["mtu"], inside["host_mtu"]) == ("bridge", "1450", "1500")


def test_what_cannot_be_read_back_ends_the_stay_and_is_told() -> None:
    host: Any = Wired("@@dunnage host\n[]\n@@dunnage end\n")
    pods = [network.Pod(host, Seen(7, "/pods/p/c1"), "10.67.1.2", {})]
    with pytest.raises(StayError, match="db-1: the network cannot be read back") as told:
        network.in_force(pods, [], host_network=False)
    assert told.value.hint == "command -v ip nsenter  # on `db-1`, which needs both"


def wanted(name: str, plugin: str = "", *, ours: bool = True) -> dict[str, str]:
    """What must be in force on a network, or on that of a configuration by its first plugin."""
    plugins = [{"type": plugin}, {"type": "portmap"}]
    configuration = {"cniVersion": "1.0.0", "name": "mine", "plugins": plugins}
    pods = pods_on(name, configuration=configuration) if plugin else pods_on(name)
    return asked_of(pods, "iptables", ours=ours)


def test_static_routes_are_told_from_flannels_that_lead_the_same_way() -> None:
    flannel = {"db-1": told(printed(device="eth0"))}
    static = {"db-1": told(printed(device="eth0", maker="static"))}
    network.insist_asked_for(flannel, wanted("flannel-host-gw"), "port")
    network.insist_asked_for(static, wanted("bridge"), "port")
    with pytest.raises(StayError, match=r"the routing .* should be `static` and is `flannel`"):
        network.insist_asked_for(flannel, wanted("bridge"), "port")
    with pytest.raises(StayError, match=r"the routing .* should be `flannel` and is `static`"):
        network.insist_asked_for(static, wanted("flannel-host-gw"), "port")


def test_who_made_routes_is_insisted_on_only_where_the_kubernetes_is_ours() -> None:
    ours = wanted("bridge")
    way = {"driver": "bridge", "encapsulation": "none", "proxy": "iptables"}
    assert ours == {**way, "routing": "static"}
    assert wanted("bridge", ours=False) == {**way, "plugin": "bridge"}


CALICO = {"plugin": "Calico, vxlan"}
FLANNEL = {"plugin": "flannel, host-gw"}
UNBRIDGED = printed().replace('"master": "cni0", ', "")


@pytest.mark.parametrize(
    ("name", "script", "plugin", "refused"),
    [
        ("flannel-vxlan", printed(), {}, ""),
        ("flannel-vxlan", UNBRIDGED, {}, "driver .* `bridge` and is `veth`"),
        ("flannel-vxlan", UNBRIDGED, CALICO, "plugin .* `flannel, vxlan` and is `Calico, vxlan`"),
        ("flannel-host-gw", printed(device="eth0"), FLANNEL, ""),
        ("bridge", printed(device="eth0"), {}, ""),
        ("existing", UNBRIDGED, CALICO, ""),
        ("existing", printed(), {}, ""),
        ("bridge", printed(device="eth0"), FLANNEL, "plugin .* `bridge` and is `flannel, host-gw`"),
    ],
)
def test_a_network_that_others_made_is_called_as_the_one_that_it_is_or_refused(
    name: str, script: str, plugin: Mapping[str, str], refused: str
) -> None:
    ways = {"db-1": {**told(script), **plugin}}
    if not refused:
        network.insist_asked_for(ways, wanted(name, ours=False), "port")
        return
    with pytest.raises(StayError, match=refused) as raised:
        network.insist_asked_for(ways, wanted(name, ours=False), "port")
    assert str(raised.value.hint).endswith("# name the network of the cluster, or `existing`")


def test_where_nobody_sees_a_node_the_plugin_that_it_tells_of_stands_for_the_driver() -> None:
    asked = asked_of(pods_on("flannel-host-gw"), "iptables", ours=False, seen=False)
    assert asked == {**FLANNEL, "encapsulation": "none", "proxy": "iptables"}
    unseen = {"driver": "unknown: no rights", "proxy": "unknown: no rights"}
    ways = {"db-1": {**unseen, **FLANNEL, "encapsulation": "none"}}
    network.insist_asked_for(ways, asked, "port")
    assert network.unread(ways, asked) == {"unread": "proxy: no rights"}
    untold = {"db-1": {**unseen, "plugin": "unknown: it tells of none", "encapsulation": "none"}}
    assert network.unread(untold, asked)["unread"].startswith("plugin, proxy: ")


def test_of_a_configuration_what_its_first_plugin_makes_is_insisted_on() -> None:
    for plugin, driver in (("bridge", "bridge"), ("ptp", "veth"), ("macvlan", "macvlan")):
        assert wanted("cni", plugin) == {"driver": driver, "proxy": "iptables"}
    assert wanted("cni", "mine") == {"proxy": "iptables"}  # nobody knows what it makes
    bridged = {"db-1": told(printed())}
    network.insist_asked_for(bridged, wanted("cni", "bridge"), "port")
    with pytest.raises(
        StayError, match=r"the driver .* should be `macvlan` and is `bridge` on db-1"
    ):
        network.insist_asked_for(bridged, wanted("cni", "macvlan"), "port")


def test_a_network_that_is_not_the_one_asked_for_is_refused() -> None:
    there = {"encapsulation": "vxlan", "proxy": "iptables"}
    network.insist_asked_for({"db-1": there}, named("vxlan", "iptables"), "port")
    network.insist_asked_for({"db-1": {}}, named("vxlan", "iptables"), "port")
    one_host = {**there, "encapsulation": "none: one host"}
    network.insist_asked_for({"db-1": one_host}, named("vxlan", "iptables"), "port")
    with pytest.raises(StayError, match=r"port: the encapsulation .* `none` and is `vxlan`"):
        network.insist_asked_for({"db-1": there}, named("none", "iptables"), "port")
    with pytest.raises(StayError, match="the proxy of its network should be `nftables`"):
        network.insist_asked_for({"db-1": there}, named("vxlan", "nftables"), "port")


def test_a_host_that_cannot_tell_contradicts_nothing_beside_one_that_can() -> None:
    there = {"encapsulation": "vxlan", "proxy": "iptables"}
    ways = {"db-1": {**there, "proxy": "unknown: this host has no nft"}, "db-2": there}
    network.insist_asked_for(ways, named("vxlan", "iptables"), "port")
    with pytest.raises(StayError, match="and is `iptables` on db-2"):
        network.insist_asked_for(ways, named("vxlan", "nftables"), "port")
    both = "db-1: unknown: this host has no nft, db-2: iptables"
    assert network.merged(ways) == {"encapsulation": "vxlan", "proxy": both}


def asked_before(tmp_path: Path, tools: Mapping[str, str]) -> str:
    """What the script tells of rules of the proxy on a host with such tools, as shell programs."""
    for tool, body in tools.items():
        (tmp_path / tool).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / tool).chmod(0o755)
    for tool in ("grep", "head"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    host: Any = Wired("")
    pod = network.Pod(host, Seen(1, ""), "10.67.1.2", {"PATH": str(tmp_path)})
    text = network.script(pod, ())
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, text=True, check=False)
    answers = done.stdout.split("@@dunnage asked\n")[1].split("@@dunnage end")[0]
    return answers[answers.index("iptables ") : answers.index("virtual ")]


def test_a_tool_that_fails_is_told_from_one_that_shows_no_proxy(tmp_path: Path) -> None:
    """By the script itself, before programs that answer as the real ones do."""
    version = 'if [ "$1" = --version ]; then echo "iptables v1 (legacy)"; exit; fi\n'
    own = "printf '%s\\n' '-N KUBE-SERVICES' '-A KUBE-SEP-1 -j DNAT --to 1' '-A X -j DNAT --to 2'"
    table = "printf 'table ip kube-proxy {\\n dnat to 1\\n}\\n'"
    shows = f'case "$*" in *tables*) echo "table ip kube-proxy" ;; *) {table} ;; esac'
    warns = "echo this library has no version >&2\n"
    known = "iptables found iptables v1 (legacy)\n"
    no_rules = "lists found 0\nlisted found 0\n"
    for tools, answers in (
        (
            {"iptables": version + warns + own, "nft": "true"},
            f"{known}lists found 1\nlisted found 2\nmaps found 0\nmapped found 0\n",
        ),
        (
            {"iptables": f"{version}true", "nft": shows},
            f"{known}{no_rules}maps found 1\nmapped found 1\n",
        ),
        (
            {"iptables": f"{version}echo locked >&2; exit 4"},
            f"{known}lists failed iptables locked\nlisted failed iptables locked\n"
            "maps absent nft\nmapped absent nft\n",
        ),
        (
            {"nft": "echo denied >&2; exit 1"},
            "iptables absent iptables\nlists absent iptables\nlisted absent iptables\n"
            "maps failed nft denied\nmapped failed nft denied\n",
        ),
    ):
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        assert asked_before(place, tools) == answers
