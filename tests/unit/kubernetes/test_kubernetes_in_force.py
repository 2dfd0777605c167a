"""What sees the packets of pods, by scripts that stand in for the tools of their hosts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from dunnage.platforms.kubernetes import ebpf, routing, tracking
from dunnage.platforms.kubernetes.questions import ASK, Answer, answers

NONE, SOME, REFUSED = Answer("0"), Answer("3"), Answer("refused")
LACKING, FAILING = Answer(unknown="this host has no nft"), Answer(unknown="nft fails: denied")


def asked(place: Path, script: str, tools: Mapping[str, str]) -> Mapping[str, Answer]:
    """Answers to a script on a host that has only these tools, as shell programs."""
    for tool, body in tools.items():
        (place / tool).write_text(f"#!/bin/sh\n{body}\n")
        (place / tool).chmod(0o755)
    for tool in ("cat", "grep", "head", "sed", "sleep"):
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


ENTRY = "udp 17 29 src=10.67.1.2 dst=10.67.2.3 sport=1 dport=9 [UNREPLIED] src=10.67.2.3 mark=0"
SEND = tracking.script(7, "10.67.1.2", "10.67.2.3")


def test_the_entry_of_what_was_sent_is_counted_and_no_other(tmp_path: Path) -> None:
    others = (ENTRY.replace("1.2", "1.21"), ENTRY.replace("dport=9", "dport=99"))
    listed = "; ".join(f"echo '{entry}'" for entry in (ENTRY, *others))
    tools = {
        "nsenter": '[ "$1 $2 $3" = "--target=7 --net bash" ] && echo refused',
        "bash": "true",
        "conntrack": f"[ \"$*\" = '-L -p udp -s 10.67.1.2 -d 10.67.2.3' ] && {{ {listed}; }}",
        "iptables": "echo '-A PREROUTING -j CT --notrack'",
        "nft": "[ \"$*\" = '--stateless list ruleset' ] && echo 'tcp dport 6379 notrack'",
    }
    found = asked(tmp_path, SEND, tools)
    assert (found["sent"], found["entries"]) == (Answer("refused"), Answer("1"))
    assert found["ruleset"] == Answer("1")
    assert found["raw"].count in (0, 1)  # by whether this machine's kernel has the older table


def test_without_its_tool_entries_are_the_kernels_own_list(tmp_path: Path) -> None:
    tools = {"cat": f"echo '{ENTRY}'", "bash": "true", "nsenter": "echo no such pod >&2; exit 1"}
    found = asked(tmp_path, SEND, tools)
    assert found["entries"] == Answer("1")
    assert found["sent"] == Answer(unknown="bash fails: no such pod")
    assert found["ruleset"] == Answer(unknown="this host has no nft")


def sending(place: Path, to: str) -> Answer:
    """What comes of sending to an address, by a real bash in the network of this test."""
    (place / "bash").symlink_to(str(shutil.which("bash")))
    script = tracking.script(7, "127.0.0.1", to)
    return asked(place, script, {"nsenter": 'shift 2; exec "$@"'})["sent"]


def test_what_arrives_where_nobody_listens_is_refused(tmp_path: Path) -> None:
    assert sending(tmp_path, "127.0.0.1") == Answer("refused")


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    broadcast = "255.255.255.255"  # only a socket that asks for it may send there
    assert sending(tmp_path, broadcast).unknown.startswith("bash fails: ")


@pytest.mark.parametrize(
    ("entries", "sent", "told"),
    [
        (SOME, REFUSED, "tracked"),
        (SOME, Answer(""), "tracked"),
        (SOME, LACKING, "tracked"),
        (NONE, REFUSED, "not tracked"),
        (NONE, Answer(""), "unknown: nothing answers what the pod sends"),
        (NONE, LACKING, "unknown: this host has no nft"),
        (FAILING, REFUSED, "unknown: nft fails: denied"),
    ],
)
def test_what_arrives_and_has_no_entry_is_not_tracked(
    entries: Answer, sent: Answer, told: str
) -> None:
    every = {"entries": entries, "sent": sent, "raw": NONE, "ruleset": NONE}
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
    every = {"entries": SOME, "sent": REFUSED, "raw": raw, "ruleset": ruleset}
    assert tracking.told(every)["notrack"] == told


QDISCS = """\
qdisc noqueue 0: dev lo root refcnt 2
qdisc clsact ffff: dev veth1 parent ffff:fff1
qdisc fq_codel 0: dev eth0 root refcnt 2
qdisc ingress ffff: dev veth2 parent ffff:fff1 ----------------
"""
FILTERS = """\
filter protocol all pref 49152 bpf chain 0
filter protocol all pref 49152 bpf chain 0 handle 0x1 from-container direct-action not_in_hw
"""


def test_filters_are_counted_where_something_can_be_attached(tmp_path: Path) -> None:
    (tmp_path / "qdiscs").write_text(QDISCS)
    (tmp_path / "filters").write_text(FILTERS)
    asks = f'echo "$*" >> {tmp_path}/asked; cat {tmp_path}/filters'
    tc = f'if [ "$1" = qdisc ]; then cat {tmp_path}/qdiscs; else {asks}; fi'
    found = asked(tmp_path, ebpf.script(7), {"tc": tc})
    places = (tmp_path / "asked").read_text().replace("filter show dev ", "").splitlines()
    assert places == ["veth1 ingress", "veth1 egress", "veth2 ingress"]
    assert found["filters"] == Answer("3")
    assert found["devices"] == Answer(unknown="this host has no bpftool")
    assert found["group"] in (Answer(""), found["devices"])  # by this machine's control groups


def test_what_bpftool_says_beside_its_answer_is_no_part_of_it(tmp_path: Path) -> None:
    tools = {"tc": "true", "bpftool": "echo a warning >&2; echo '[]'"}
    found = asked(tmp_path, ebpf.script(7), tools)
    assert (found["devices"], found["filters"]) == (Answer("[]"), Answer("0"))


def test_a_bpftool_that_fails_is_told_in_its_words(tmp_path: Path) -> None:
    tools = {"tc": "true", "bpftool": "echo not permitted >&2; exit 1"}
    assert asked(tmp_path, ebpf.script(7), tools)["devices"] == Answer(
        unknown="bpftool fails: not permitted"
    )


def test_a_tc_that_fails_is_told_in_its_words(tmp_path: Path) -> None:
    found = asked(tmp_path, ebpf.script(7), {"tc": "echo not permitted >&2; exit 1"})
    assert found["filters"] == Answer(unknown="tc fails: not permitted")


@pytest.mark.parametrize(
    ("ip", "told"),
    [("true", Answer(unknown="tc fails: not permitted")), ("exit 1", Answer("0"))],
)
def test_filters_that_cannot_be_read_are_unknown_but_of_a_device_that_is_gone(
    tmp_path: Path, ip: str, told: Answer
) -> None:
    (tmp_path / "qdiscs").write_text(QDISCS)
    fails = "echo not permitted >&2; exit 1"
    tc = f'if [ "$1" = qdisc ]; then cat {tmp_path}/qdiscs; else {fails}; fi'
    assert asked(tmp_path, ebpf.script(7), {"tc": tc, "ip": ip})["filters"] == told


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
        (Answer('[{"attach_type": "egress"}, {"attach_type": "cgroup_inet_ingress"}]'), "2"),
        (Answer('[{"attach_type": "cgroup_inet4_connect"}, {"attach_type": "sock_ops"}]'), "0"),
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
