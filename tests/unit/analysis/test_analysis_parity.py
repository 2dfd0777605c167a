"""Parity: what counts as the same, what a factor explains, what nothing explains."""

from __future__ import annotations

import re
from typing import Any

import pytest
from analysis_cases import deployment, process, stay

from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, keys, leaves
from dunnage.model.choices import ClientKind, Storage
from dunnage.model.parity import Aspect, Cause, Factor
from dunnage.model.path import Hop, HopKind, NetworkPath
from dunnage.model.port import PortNumbers
from dunnage.model.record import StayRecord
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.wording.parity import factor, sentence


def spoiled(**changed: Any) -> tuple[Any, Any]:
    return stay(), stay(processes=(process(**changed),))


def test_twins_have_no_factor_and_no_difference() -> None:
    twin = deployment("twin", twin_of="native")
    assert factors(deployment(), twin) == ()

    def seen(name: str) -> Any:
        path = f"/srv/dunnage/b1-{name}/redis.conf"
        return stay(
            name,
            processes=(
                process(argv=("redis-server", path), files={path: f"dir /srv/dunnage/b1-{name}"}),
            ),
        )

    assert compare(seen("native"), seen("twin"), set()) == ()


def test_factors_are_written_with_both_sides() -> None:
    docker = deployment(
        "docker",
        platform="docker",
        network="bridge",
        slowdown=0.05,
        limits=Limits(cpus=2),
        database=DatabaseSpec(kind="redis", version="7.0", settings={"save": "1 1"}),
    )
    found = factors(deployment(), docker)
    assert tuple(map(factor, found)) == (
        "database.settings.save: - → 1 1",
        "limits.cpus: - → 2.0",
        "network: host → bridge",
        "platform: native → docker",
        "slowdown: 0.0 → 0.05",
    )
    assert keys(found) == {"database", "limits", "network", "platform", "slowdown"}


def test_a_cni_configuration_is_one_factor_by_its_name() -> None:
    def pods(plugin: str, name: str = "mine") -> Any:
        configuration = {"cniVersion": "1.0.0", "name": name, "plugins": [{"type": plugin}]}
        options = {"proxy": "nftables", "configuration": configuration}
        return deployment("pods", network="cni", network_options=options)

    first, second, third = map(factor, factors(deployment(), pods("ptp")))
    assert (first, third) == ("network: host → cni", "network_options.proxy: - → nftables")
    assert re.fullmatch(r"network_options\.configuration: - → mine \([0-9a-f]{8}\)", second)
    assert factors(pods("ptp"), pods("ptp")) == ()
    for other in (pods("macvlan"), pods("ptp", "yours")):
        (found,) = factors(pods("ptp"), other)
        assert found.key == "network_options.configuration"
        assert keys([found]) == {"network_options"}


def test_with_labels_a_configuration_is_one_leaf_wherever_it_is() -> None:
    configuration = {"name": "mine", "plugins": []}
    tree = {"pods": {"network_options": {"proxy": "nftables", "configuration": configuration}}}
    labelled = dict(leaves(tree, labelled=True))
    assert labelled["pods.network_options.proxy"] == "nftables"
    assert str(labelled["pods.network_options.configuration"]).startswith("mine (")
    assert dict(leaves(tree))["pods.network_options.configuration.name"] == "mine"


LIMITS = {"open files": "20000:20000", "capabilities": "ff", "memory_limit": "512"}
UNDECLARED: list[dict[str, Any]] = [
    {"executable_sha256": "c" * 64},
    {"executable": "/usr/bin/redis-server"},
    {"mapped": {"/opt/dunnage/redis/lib/libc.so.6": "d" * 64}},
    {"mapped": {}},
    {"argv": ("redis-server", "/srv/dunnage/redis-1/redis.conf", "--save", "1 1")},
    {"files": {"/srv/dunnage/redis-1/redis.conf": "port 6379\nbind 10.0.0.1\nsave 1 1\n"}},
    {"limits": {"open files": "1024:1024", "capabilities": "ff", "memory_limit": "512"}},
    {"data": {"file_system": "overlay", "mount_options": "rw,noatime"}},
    {"data": {"file_system": "ext4", "mount_options": "rw,relatime"}},
    {"kernel": {"release": "6.2", "net.core.somaxconn": "4096"}},
    {"limits": {**LIMITS, "cpu_period": "0.1"}},
    {"limits": {**LIMITS, "cpu_weight": "512"}},
    {"limits": {**LIMITS, "memory_soft_limit": "256"}},
    {"limits": {**LIMITS, "cpuset_cpus": "0"}},
    {"environment": {"JAVA_TOOL_OPTIONS": "-Xmx1g"}},
    {"environment": {"HOSTNAME": "db-1"}},
    {"mapped": {"/opt/dunnage/redis/lib/libc.so.6": "b" * 64, "/opt/a.jsa": "c" * 64}},
    {"user": "999:999"},
    {"member": "redis-9"},
]


@pytest.mark.parametrize("changed", UNDECLARED)
def test_what_no_factor_explains_is_undeclared(changed: dict[str, Any]) -> None:
    found = compare(*spoiled(**changed), {"network", "endpoint"})
    assert found and {item.cause for item in found} == {Cause.UNDECLARED}


def test_a_server_that_tells_another_setting_is_undeclared() -> None:
    other = stay(
        facts={"version": "7.0.15", "replica-announce-ip": "10.0.0.1", "appendonly": "yes"}
    )
    (found,) = compare(stay(), other, {"platform"})
    assert sentence(found) == "server: appendonly: `no` → `yes`"
    assert found.cause is Cause.UNDECLARED


@pytest.mark.parametrize(
    ("declared", "cause"),
    [
        ({"platform", "image"}, Cause.INHERENT),
        ({"platform", "image", "database"}, Cause.FACTOR),
        ({"image"}, Cause.INHERENT),
    ],
)
def test_what_another_build_tells_of_itself_comes_with_the_image(
    declared: set[str], cause: Cause
) -> None:
    facts = {"version": "7.2.4", "replica-announce-ip": "10.0.0.7", "appendonly": "no"}
    (found,) = compare(stay(), stay(facts=facts), declared)
    assert sentence(found) == "server: version: `7.0.15` → `7.2.4`"
    assert found.cause is cause
    assert found.comes_with == ("image" if cause is Cause.INHERENT else "")


def test_addresses_and_the_order_of_mount_options_are_no_difference() -> None:
    other = stay(
        facts={"version": "7.0.15", "replica-announce-ip": "10.0.0.7", "appendonly": "no"},
        processes=(
            process(
                files={"/srv/dunnage/redis-1/redis.conf": "port 6379\nbind 10.0.0.7\nsave ''\n"},
                data={"file_system": "ext4", "mount_options": "noatime,rw", "source": "/dev/vdb"},
            ),
        ),
    )
    assert compare(stay(), other, set()) == ()


CONFIGURATION = "/srv/dunnage/redis-1/redis.conf"
BIND = {"files": {"/srv/dunnage/redis-1/redis.conf": "port 6379\nbind 0.0.0.0\nsave ''\n"}}


@pytest.mark.parametrize(
    ("changed", "declared", "cause"),
    [
        (BIND, {"network"}, Cause.FACTOR),
        (BIND, {"platform"}, Cause.INHERENT),
        (BIND, set(), Cause.UNDECLARED),
        ({"data": {"file_system": "overlay"}}, {"storage"}, Cause.FACTOR),
        (
            {"limits": {"open files": "20000:20000", "capabilities": "0f", "memory_limit": "512"}},
            {"platform"},
            Cause.INHERENT,
        ),
        (
            {"limits": {"open files": "20000:20000", "capabilities": "ff", "memory_limit": "9"}},
            {"limits"},
            Cause.FACTOR,
        ),
        ({"limits": {**LIMITS, "cpu_period": "0.1"}}, {"limits"}, Cause.FACTOR),
        ({"limits": {**LIMITS, "cpu_weight": "512"}}, {"limits"}, Cause.UNDECLARED),
        ({"limits": {**LIMITS, "cpuset_cpus": "0"}}, {"hosts"}, Cause.FACTOR),
        ({"environment": {"A": "b"}}, {"database"}, Cause.FACTOR),
        ({"environment": {"A": "b"}}, {"platform"}, Cause.UNDECLARED),
        ({"environment": {"A": "b"}}, {"platform", "image"}, Cause.INHERENT),
        ({"environment": {"HOSTNAME": "4f1c"}}, {"platform"}, Cause.INHERENT),
        ({"environment": {"KUBERNETES_PORT": "tcp://10.0.0.1"}}, {"platform"}, Cause.INHERENT),
        ({"environment": {"KUBERNETES_SERVICE_PORT_HTTPS": "443"}}, {"platform"}, Cause.INHERENT),
        ({"environment": {"KUBERNETES_PORT": "tcp://10.0.0.1"}}, {"limits"}, Cause.UNDECLARED),
        ({"limits": {**LIMITS, "cpu_weight": "512 in 1024"}}, {"platform"}, Cause.INHERENT),
        ({"executable_sha256": "c" * 64}, {"database"}, Cause.FACTOR),
        ({"executable_sha256": "c" * 64}, {"platform", "image"}, Cause.INHERENT),
        ({"argv": ("theirs", CONFIGURATION)}, {"platform", "image"}, Cause.INHERENT),
        ({"argv": ("theirs", CONFIGURATION)}, {"platform"}, Cause.UNDECLARED),
        ({"argv": ("theirs", CONFIGURATION)}, {"platform", "image", "database"}, Cause.FACTOR),
        (
            {"argv": ("redis-server", CONFIGURATION, "--hz", "99")},
            {"platform", "image"},
            Cause.UNDECLARED,
        ),
        (
            {"kernel": {"release": "6.1", "net.core.somaxconn": "128"}},
            {"network"},
            Cause.INHERENT,
        ),
    ],
)
def test_a_declared_factor_explains_what_it_brings_about(
    changed: dict[str, Any], declared: set[str], cause: Cause
) -> None:
    found = compare(*spoiled(**changed), declared)
    assert found and {item.cause for item in found} == {cause}


def test_what_cannot_be_avoided_says_so() -> None:
    (found,) = compare(*spoiled(**BIND), {"platform"})
    assert found.comes_with == "platform"


def test_a_storage_factor_is_one() -> None:
    assert factors(deployment(), deployment("d", storage=Storage.TMPFS)) == (
        Factor(key="storage", baseline="bind", deployment="tmpfs"),
    )


def test_an_address_that_is_filled_in_late_is_an_address() -> None:
    files = {"/srv/dunnage/redis-1/redis.conf": "port 6379\nbind @late:redis-1@\nsave ''\n"}
    assert compare(*spoiled(files=files), set()) == ()


def numbers(own: int, told: int) -> PortNumbers:
    return PortNumbers(bind=own, peer=told, contact=told, advertised=told)


def on_ports(*told: int, of: int | None = None, content: str = "", own: int | None = None) -> Any:
    """A stay whose last member is the replica of member `of`, and whose members bind `own`."""
    content = content or "port {}\nreplicaof 10.0.0.1 {}\nhz 10\n"
    text = content.format(told[-1], told[0 if of is None else of])
    ports = {
        f"redis-{member + 1}": {
            "redis": numbers(own or number, number),
            "bus": numbers((own or number) + 10000, number + 10000),
        }
        for member, number in enumerate(told)
    }
    return stay(processes=(process(files={"/srv/redis.conf": text}),), ports=ports)


def test_ports_that_a_cluster_chooses_anew_are_no_difference() -> None:
    assert compare(on_ports(31754, 30533), on_ports(30890, 32506), set()) == ()
    assert compare(on_ports(6379), on_ports(31754), {"endpoint"}) == ()


@pytest.mark.parametrize("own", [None, 6379])
def test_a_replica_of_another_member_is_a_difference_although_ports_are_chosen_anew(
    own: int | None,
) -> None:
    chain = on_ports(31754, 30533, 32001, own=own, of=1)
    assert compare(on_ports(6379, 6380, 6381, of=1), on_ports(6379, 6380, 6381, of=1), set()) == ()
    for other in (on_ports(30890, 32506, 31007, own=own), on_ports(31754, 30533, 32001, own=own)):
        (found,) = compare(other, chain, set())
        assert found.deployment == "replicaof 10.0.0.1 30533"


def test_ports_that_all_members_have_in_one_stay_tell_none_of_them_from_another() -> None:
    assert compare(on_ports(6379, 6379, 6379), on_ports(31754, 30533, 32001), set()) == ()
    assert compare(on_ports(6379, 6379, 6379), on_ports(31754, 30533, 32001, of=1), set()) == ()


def test_a_number_that_is_no_port_of_the_members_is_a_difference() -> None:
    found = compare(
        on_ports(6379), on_ports(6379, content="port {}\nreplicaof 10.0.0.1 {}\nhz 1\n"), set()
    )
    assert [sentence(item) for item in found] == [
        "primary: configuration redis.conf: `hz 10` → `hz 1`"
    ]
    bus = on_ports(6379, content="port 16379\nreplicaof 10.0.0.1 {}\nhz 10\n")
    assert {item.cause for item in compare(on_ports(6379), bus, set())} == {Cause.UNDECLARED}


def test_a_stay_that_tells_numbers_without_members_does_not_tell_its_ports() -> None:
    version_16 = {**on_ports(6379).model_dump(), "ports": {"redis": [6379, 6380]}}
    assert StayRecord.model_validate(version_16).ports == {}
    assert StayRecord.model_validate(on_ports(6379).model_dump()) == on_ports(6379)


def test_ports_are_compared_with_a_stay_that_does_not_tell_its_own() -> None:
    earlier = on_ports(6379).model_copy(update={"ports": {}})
    assert compare(earlier, on_ports(6379), set()) == ()
    assert {item.cause for item in compare(earlier, on_ports(6380), set())} == {Cause.UNDECLARED}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("port 6379\nsave ''\nbind 10.0.0.1\nsave ''\n", "nothing → `save ''`"),
        ("port 6379\nbind 10.0.0.1\nsave ''\nport 6379\n", "nothing → `port 6379`"),
        ("port 6379\nbind 10.0.0.1\n", "`save ''` → nothing"),
    ],
)
def test_a_line_told_twice_or_not_at_all_is_a_difference(content: str, text: str) -> None:
    found = compare(*spoiled(files={"/srv/dunnage/redis-1/redis.conf": content}), set())
    assert [sentence(item) for item in found] == [f"primary: configuration redis.conf: {text}"]


def test_the_order_of_lines_is_a_difference() -> None:
    pair = [
        stay(processes=(process(files={"/srv/redis.conf": content}),))
        for content in ("save 1 1\nsave ''\n", "save ''\nsave 1 1\n")
    ]
    assert {item.cause for item in compare(pair[0], pair[1], {"platform"})} == {Cause.UNDECLARED}


@pytest.mark.parametrize(
    ("declared", "cause"),
    [
        (set(), Cause.UNDECLARED),
        ({"platform"}, Cause.UNDECLARED),
        ({"limits"}, Cause.FACTOR),
        ({"database"}, Cause.FACTOR),
    ],
)
def test_another_heap_that_java_found_for_itself_is_told(declared: set[str], cause: Cause) -> None:
    def with_heap(size: str) -> Any:
        return stay(processes=(process(runtime={"flag.MaxHeapSize": size, "cpus": "2 total"}),))

    (found,) = compare(with_heap("512"), with_heap("256"), declared)
    assert sentence(found) == "primary: virtual machine, flag.MaxHeapSize: 512 → 256"
    assert found.cause is cause


def test_addresses_and_what_a_container_is_called_are_no_difference_of_the_environment() -> None:
    def called(name: str, address: str) -> Any:
        return stay(processes=(process(environment={"HOSTNAME": name, "PEER": address}),))

    assert compare(called("4f1c", "10.0.0.1"), called("a09b", "10.0.0.7"), set()) == ()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("virtual machine", "virtual machine"),
        ("environment", "environment"),
        ("/srv/dunnage/b1-native/redis.conf", "configuration redis.conf"),
    ],
)
@pytest.mark.parametrize("declared", [set(), {"platform", "database", "limits"}])
def test_what_neither_side_could_read_is_unknown_and_never_equal(
    what: str, said: str, declared: set[str]
) -> None:
    silent = process(absent={what: "it does not answer"})
    (found,) = compare(stay(processes=(silent,)), stay(processes=(silent,)), declared)
    assert found.cause is Cause.UNKNOWN
    assert sentence(found) == f"primary: {said}: it does not answer"


def test_what_one_side_could_not_read_is_unknown_and_not_told_as_missing_there() -> None:
    path = "/srv/dunnage/redis-1/redis.conf"
    jar = {"/opt/dunnage/redis/lib/libc.so.6": "b" * 64, "/opt/a.jar": "c" * 64}
    told = process(mapped=jar, runtime={"cpus": "2 total"}, environment={"A": "b"})
    silent = process(
        files={},
        absent={"virtual machine": "no answer", "environment": "written over", path: "gone"},
    )
    for pair in ((told, silent), (silent, told)):
        one, other = (stay(processes=(side,)) for side in pair)
        found = compare(one, other, set())
        assert len(found) == 3
        assert {item.cause for item in found} == {Cause.UNKNOWN}


def test_what_is_known_to_differ_is_told_beside_what_is_unknown() -> None:
    silent = {"virtual machine": "no answer"}
    pair = [stay(processes=(process(absent=silent, user=user),)) for user in ("0:0", "9:9")]
    assert {item.cause for item in compare(pair[0], pair[1], set())} == {
        Cause.UNKNOWN,
        Cause.UNDECLARED,
    }


@pytest.mark.parametrize(
    "content",
    ["port 6379\nbind 10.0.0.1\nsave ''", "port 6379\r\nbind 10.0.0.1\r\nsave ''\r\n"],
)
def test_how_lines_end_is_a_difference(content: str) -> None:
    found = compare(*spoiled(files={"/srv/dunnage/redis-1/redis.conf": content}), set())
    assert found and {item.cause for item in found} == {Cause.UNDECLARED}


def test_an_argument_that_is_a_dash_is_not_the_same_as_none() -> None:
    argv = ("redis-server", "/srv/dunnage/redis-1/redis.conf", "-")
    (found,) = compare(*spoiled(argv=argv), {"network", "platform"})
    assert sentence(found) == "primary: argument 2: nothing → `-`"
    assert found.cause is Cause.UNDECLARED


def test_clients_of_two_platforms_that_are_other_things_are_listed_and_spoil_no_run() -> None:
    swarm = stay("swarm", client=ClientKind.CONTAINERS)
    pods = stay("kubernetes", client=ClientKind.IN_NETWORK)
    (found,) = compare(swarm, pods, {"platform", "network"})
    assert (found.cause, found.comes_with) == (Cause.INHERENT, "platform")
    assert sentence(found) == (
        "load generator: a container for each program → a process of the host in the network of a "
        "pod"
    )
    assert compare(swarm, stay("native"), {"platform"}) == ()


def test_a_client_that_a_study_puts_elsewhere_is_its_factor() -> None:
    outside = stay("kubernetes", client=ClientKind.PROCESS)
    pods = stay("kubernetes", client=ClientKind.IN_NETWORK)
    (found,) = compare(outside, pods, {"client"})
    assert found.cause is Cause.FACTOR
    (other,) = compare(outside, pods, set())
    assert other.cause is Cause.UNDECLARED


def on_the_way(*kinds: HopKind, unknown: str = "") -> Any:
    hops = (HopKind.CLIENT, HopKind.DEVICE, *kinds, HopKind.MEMBER)
    path = NetworkPath(
        client="client-1",
        member="redis-1",
        address="10.0.0.1:6379",
        hops=tuple(Hop(kind=kind, host="db-1", name="any") for kind in hops),
        unknown=unknown,
    )
    return stay(paths=(path,))


PORT = on_the_way(HopKind.TRANSLATION, HopKind.BRIDGE, HopKind.VETH, HopKind.VETH)
SERVICE = on_the_way(
    HopKind.TRANSLATION, HopKind.TUNNEL, HopKind.TUNNEL, HopKind.BRIDGE, HopKind.VETH, HopKind.VETH
)


@pytest.mark.parametrize(
    ("baseline", "other", "factors", "told"),
    [
        (PORT, PORT, set(), []),
        (
            PORT,
            SERVICE,
            {"endpoint"},
            ["translation, bridge, veth → translation, tunnel, bridge, veth: endpoint"],
        ),
        (
            on_the_way(HopKind.WIRE),
            PORT,
            {"platform", "network"},
            ["nothing else → translation, bridge, veth: network"],
        ),
        (PORT, on_the_way(HopKind.TUNNEL, unknown="no `ip`"), {"endpoint"}, []),
        (PORT, stay(), {"endpoint"}, []),
    ],
)
def test_what_an_endpoint_brings_along_on_the_way_is_told(
    baseline: Any, other: Any, factors: set[str], told: list[str]
) -> None:
    found = [each for each in compare(baseline, other, factors) if each.aspect is Aspect.WAY]
    assert {each.cause for each in found} <= {Cause.INHERENT}
    assert [
        f"{sentence(each).removeprefix('on the way to members: ')}: {each.comes_with}"
        for each in found
    ] == told


def test_another_way_that_no_factor_explains_is_undeclared() -> None:
    assert [each.cause for each in compare(PORT, SERVICE, {"storage"})] == [Cause.UNDECLARED]
