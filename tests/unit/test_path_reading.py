"""How the way to members is asked for, and what is told where it cannot be read."""

from __future__ import annotations

import pytest

from dunnage.contracts.host import Completed
from dunnage.contracts.platform import RunningMember, Seen
from dunnage.errors import RunError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import Address
from dunnage.model.path import HopKind, NetworkPath
from dunnage.model.study import TestbedSpec
from dunnage.platforms.paths.parse import namespaces
from dunnage.platforms.paths.read import Client, Member, read_paths
from dunnage.platforms.paths.script import Tools, script


def test_a_host_without_ip_says_what_was_missing() -> None:
    with pytest.raises(ValueError, match="ip: not found"):
        namespaces("db-1", "@@dunnage own\n@@dunnage links\n", "sh: 1: ip: not found\n")


def test_the_script_asks_for_rules_only_where_a_daemon_makes_them() -> None:
    plain = script(["10.0.0.1"], [12], None, members=True)
    assert "iptables" not in plain
    assert "route get 10.0.0.1" in plain
    tools = Tools({"PATH": "/some where"}, "/run/docker/netns")
    asked = script([], [], tools, members=False)
    assert "export PATH='/some where'\n" in asked
    assert "iptables --table nat" in asked
    assert "/run/docker/netns/[0-9]*-*" in asked
    assert "ss --no-header" not in asked


def paths_where(answer: Completed | Exception, meant: str = "10.0.0.1") -> NetworkPath:
    """What is told of a path where the hosts' script ended so."""
    spec = TestbedSpec(kind="fake", hosts={"db": 1, "client": 1})
    with open_fake(spec, name="paths") as testbed:
        (client,), (host,) = testbed.group("client"), testbed.group("db")

        def run(*_: object, **__: object) -> Completed:
            if isinstance(answer, Exception):
                raise answer
            return answer

        client.run = host.run = run  # type: ignore[method-assign]
        member = Member(
            RunningMember("redis-1", host, Seen(12, "")), Address("redis-1", 6379), meant
        )
        (path,) = read_paths(Client(client, None), [member], ["10.0.0.1"], {})
    return path


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        (RunError("`sh` did not end within 10 s"), "`sh` did not end within 10 s"),
        (Completed(127, "", "sh: 1: ip: not found"), "the network cannot be read: sh: 1: ip: not"),
        (Completed(0, "@@dunnage own\n@@dunnage links\n[{", ""), "the network cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_and_ends_nothing(
    answer: Completed | Exception, unknown: str
) -> None:
    path = paths_where(answer)
    assert [hop.kind for hop in path.hops] == [HopKind.CLIENT]
    assert unknown in path.unknown


def test_a_name_that_nobody_knows_is_said() -> None:
    path = paths_where(Completed(0, "", ""), meant="")
    assert path.unknown == "nobody has told what address `redis-1` stands for"
    assert path.address == "redis-1:6379"


def test_each_host_is_asked_once_for_all_members() -> None:
    asked = []
    spec = TestbedSpec(kind="fake", hosts={"db": 2, "client": 1})
    with open_fake(spec, name="paths") as testbed:
        for host in testbed.hosts:

            def run(*_: object, name: str = host.name, **__: object) -> Completed:
                asked.append(name)
                return Completed(1, "", "")

            host.run = run  # type: ignore[method-assign]
        (client,) = testbed.group("client")
        members = [
            Member(
                RunningMember(f"redis-{number}", host, Seen(number, "")), Address("", 1), "10.0.0.1"
            )
            for number, host in enumerate(testbed.group("db") * 2, start=1)
        ]
        assert len(read_paths(Client(client, None), members, [], {})) == 4
    assert sorted(asked) == ["client-1", "db-1", "db-2"]


def test_routes_to_what_rules_and_services_lead_to_are_read_with_the_others() -> None:
    link = '[{"ifname":"eth0","ifindex":2,"mtu":1500}]'
    own, balancer = namespaces(
        "db-1",
        f"@@dunnage own\n@@dunnage links\n{link}\n"
        f"@@dunnage balancer\n@@dunnage links\n{link}\n"
        '[{"dst":"10.0.0.9","dev":"eth0"}]\n'
        "@@dunnage rules\n-A POSTROUTING -j MASQUERADE\n"
        "@@dunnage virtual\nversion\nservices\nservers\n"
        "FWM  00000101 rr\n  -> 0A000007:0000 Masq 1 0 0\n"
        '@@dunnage onward\n[{"dst":"10.0.0.7","dev":"eth0"}]\n'
        "@@dunnage marks\n-A INPUT -d 10.0.0.9/32 -j MARK --set-xmark 0x101/0xffffffff\n",
    )
    assert own.own
    assert not own.virtuals
    assert not balancer.own
    assert set(balancer.routes) == {"10.0.0.9", "10.0.0.7"}
    assert list(balancer.rules) == ["POSTROUTING"]
    assert list(balancer.marks) == ["INPUT"]
    assert [each.servers for each in balancer.virtuals] == [(("10.0.0.7", 0),)]
