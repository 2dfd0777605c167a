"""What sees the packets of pods, as the tools of their hosts answer; those are played here."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from dunnage.platforms.kubernetes import ebpf, routing, tracking
from dunnage.platforms.kubernetes.questions import ASK, Answer, answers

NONE, SOME = Answer("0"), Answer("3")
LACKING, FAILING = Answer(unknown="this host has no nft"), Answer(unknown="nft fails: denied")


def asked(place: Path, script: str, tools: Mapping[str, str]) -> Mapping[str, Answer]:
    """Answers to a script on a host that has only these tools, as shell programs."""
    for tool, body in tools.items():
        (place / tool).write_text(f"#!/bin/sh\n{body}\n")
        (place / tool).chmod(0o755)
    for tool in ("cat", "grep", "head", "sed", "sort"):
        if tool not in tools:
            (place / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        ["/bin/sh", "-c", ASK + script],
        env={"PATH": str(place)},
        capture_output=True,
        text=True,
        check=True,
    )
    return answers(done.stdout)


def test_a_question_is_answered_or_told_why_not(tmp_path: Path) -> None:
    script = "ask one a a; ask two b b; ask three c c; ask four d count '^x' d"
    tools = {"a": "echo 7 of 9", "b": "echo locked >&2; echo more; exit 1", "d": "echo x; echo y"}
    assert asked(tmp_path, script, tools) == {
        "one": Answer("7 of 9"),
        "two": Answer(unknown="b fails: locked"),
        "three": Answer(unknown="this host has no c"),
        "four": Answer("1"),
    }


def test_what_no_question_is_answered_with_is_refused() -> None:
    with pytest.raises(ValueError, match="unpack"):
        answers("lonely\n")


ENTRY = "tcp 6 86 ESTABLISHED src=10.67.1.2 dst=10.67.2.3 sport=1 dport=2"


def test_connections_of_a_pod_and_its_entries_are_counted_and_no_others(tmp_path: Path) -> None:
    tools = {
        "nsenter": 'shift 2; exec "$@"',
        "ss": "echo 0 0 10.67.1.2:6379 10.67.2.3:4",
        "conntrack": f"echo '{ENTRY}'; echo '{ENTRY.replace('1.2', '1.21')}'; echo all >&2",
        "iptables": "echo '-A PREROUTING -j CT --notrack'",
        "nft": "echo 'tcp dport 6379 notrack'",
    }
    found = asked(tmp_path, tracking.script(7, "10.67.1.2"), tools)
    assert (found["connections"], found["entries"]) == (Answer("1"), Answer("1"))
    assert found["ruleset"] == Answer("1")
    assert found["raw"].count in (0, 1)  # by whether this machine's kernel has the older table


def test_without_its_tool_entries_are_the_kernels_own_list(tmp_path: Path) -> None:
    tools = {"cat": f"echo '{ENTRY}'", "ss": "true", "nsenter": "true"}
    found = asked(tmp_path, tracking.script(7, "10.67.1.2"), tools)
    assert found["entries"] == Answer("1")
    assert found["ruleset"] == Answer(unknown="this host has no nft")


@pytest.mark.parametrize(
    ("entries", "connections", "told"),
    [
        (SOME, NONE, "tracked"),
        (NONE, SOME, "not tracked"),
        (NONE, NONE, "unknown: the pod had no connection yet"),
        (NONE, LACKING, "unknown: this host has no nft"),
        (FAILING, SOME, "unknown: nft fails: denied"),
    ],
)
def test_a_pod_that_has_connections_and_no_entry_is_not_tracked(
    entries: Answer, connections: Answer, told: str
) -> None:
    every = {"entries": entries, "connections": connections, "raw": NONE, "ruleset": NONE}
    assert tracking.told(every) == {"conntrack": told, "notrack": "none"}


@pytest.mark.parametrize(
    ("raw", "ruleset", "told"),
    [
        (SOME, NONE, "iptables"),
        (SOME, SOME, "iptables and nftables"),
        (NONE, LACKING, "unknown: this host has no nft"),
        (FAILING, LACKING, "unknown: nft fails: denied and this host has no nft"),
        (SOME, LACKING, "iptables"),
    ],
)
def test_rules_against_tracking_are_told_by_their_tool(
    raw: Answer, ruleset: Answer, told: str
) -> None:
    every = {"entries": SOME, "connections": SOME, "raw": raw, "ruleset": ruleset}
    assert tracking.told(every)["notrack"] == told


QDISCS = """\
qdisc noqueue 0: dev lo root refcnt 2
qdisc clsact ffff: dev veth1 parent ffff:fff1
qdisc fq_codel 0: dev eth0 root refcnt 2
"""
FILTERS = """\
filter protocol all pref 49152 bpf chain 0
filter protocol all pref 49152 bpf chain 0 handle 0x1 from-container direct-action not_in_hw
"""


def test_filters_are_counted_where_something_can_be_attached(tmp_path: Path) -> None:
    (tmp_path / "qdiscs").write_text(QDISCS)
    (tmp_path / "filters").write_text(FILTERS)
    shows = f"[ \"$*\" = 'filter show dev veth1 ingress' ] && cat {tmp_path}/filters || echo no >&2"
    tc = f'if [ "$1" = qdisc ]; then cat {tmp_path}/qdiscs; else {shows}; fi'
    found = asked(tmp_path, ebpf.script(7), {"tc": tc})
    assert found["filters"] == Answer("1")
    assert found["devices"] == Answer(unknown="this host has no bpftool")
    assert found["group"] in (Answer(""), found["devices"])  # by this machine's control groups


def test_what_bpftool_says_beside_its_answer_is_no_part_of_it(tmp_path: Path) -> None:
    tools = {"tc": "true", "bpftool": "echo a warning >&2; echo '[]'"}
    found = asked(tmp_path, ebpf.script(7), tools)
    assert (found["devices"], found["filters"]) == (Answer("[]"), Answer("0"))


def test_a_tc_that_fails_is_told_in_its_words(tmp_path: Path) -> None:
    found = asked(tmp_path, ebpf.script(7), {"tc": "echo not permitted >&2; exit 1"})
    assert found["filters"] == Answer(unknown="tc fails: not permitted")


def programs(
    filters: Answer = NONE, devices: Answer = LACKING, group: Answer = NONE
) -> dict[str, str]:
    links = [{"ifname": "eth0", "xdp": {"mode": 1, "prog": {"id": 3}}}, {"ifname": "lo"}]
    return ebpf.told({"filters": filters, "devices": devices, "group": group}, links)


def test_programs_at_devices_are_counted_by_whoever_knows_of_most() -> None:
    every = json.dumps([{"xdp": [], "tc": [{"id": 1}, {"id": 2}], "flow_dissector": []}])
    assert programs(filters=SOME, group=Answer())["ebpf_tc"] == "3"
    assert programs(filters=SOME, devices=Answer(every), group=Answer())["ebpf_tc"] == "2"
    assert programs(filters=FAILING, group=Answer())["ebpf_tc"] == "unknown: nft fails: denied"
    assert programs(devices=Answer("{"), group=Answer())["ebpf_tc"] == "unknown: bpftool tells {"
    assert programs(group=Answer())["ebpf_xdp"] == "1"


@pytest.mark.parametrize(
    ("group", "told"),
    [
        (Answer(""), "0"),
        (Answer('[{"attach_type": "cgroup_device"}]'), "0"),
        (Answer('[{"attach_type": "device"}, {"attach_type": "cgroup_inet_egress"}]'), "1"),
        (Answer("no JSON"), "unknown: bpftool tells no JSON"),
        (LACKING, "unknown: this host has no nft"),
    ],
)
def test_of_programs_in_a_control_group_those_count_that_see_packets(
    group: Answer, told: str
) -> None:
    assert programs(group=group)["ebpf_cgroup"] == told


def route(**more: str) -> str:
    return json.dumps([{"dst": "10.67.2.0/24", "gateway": "10.77.0.2", "dev": "eth0", **more}])


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (f"{route(protocol='static')}\n", "static"),
        (f"{route(protocol='static')}\nflannel", "static"),
        (f"{route(protocol='boot')}\nflannel", "flannel"),
        (f"{route()}\nflannel", "flannel"),
        (route(protocol="boot"), "boot"),
        (f"{route(protocol='bird')}\n{route(protocol='kernel')}", "bird and kernel"),
        ("flannel", "unknown: `ip route get fibmatch` tells no route"),
    ],
)
def test_routes_are_told_by_their_makers(printed: str, told: str) -> None:
    assert routing.told(printed, elsewhere=True) == told


def test_without_pods_elsewhere_no_route_is_known() -> None:
    assert routing.told("flannel", elsewhere=False) == "unknown: all members are on one host"


def test_flannels_file_tells_of_it_beside_the_route_to_each_pod(tmp_path: Path) -> None:
    script = routing.script(("10.67.2.3",)).replace("/run/flannel", str(tmp_path))
    for there in (False, True):
        if there:
            (tmp_path / "subnet.env").write_text("")
        place = tmp_path / str(there)
        place.mkdir()
        (place / "ip").write_text(f"#!/bin/sh\necho '{route()}'\n")
        (place / "ip").chmod(0o755)
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            env={"PATH": str(place)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{route()}\n" + ("flannel\n" if there else "")
