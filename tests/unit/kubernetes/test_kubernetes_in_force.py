"""What sees the packets of pods, by scripts that stand in for the tools of their hosts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dunnage.platforms.kubernetes import ebpf, routing, tracking
from dunnage.platforms.kubernetes.asking import ASK, Answer, answers

NONE, SOME = Answer("0"), Answer("3")
LACKING, FAILING = Answer(unknown="this host has no nft"), Answer(unknown="nft fails: denied")


def asked(place: Path, script: str, tools: Mapping[str, str]) -> Mapping[str, Answer]:
    """Answers to a script on a host that has only these tools, as shell programs."""
    for tool, body in tools.items():
        (place / tool).write_text(f"#!/bin/sh\n{body}\n")
        (place / tool).chmod(0o755)
    for tool in ("cat", "grep", "head", "sed"):
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


def test_a_tool_answers_or_it_is_told_why_not(tmp_path: Path) -> None:
    script = "ask one a a; ask two b b; ask three c c; ask four d count '^x' d"
    tools = {"a": "echo 7 of 9", "b": "echo locked >&2; echo more; exit 1", "d": "echo x; echo y"}
    assert asked(tmp_path, script, tools) == {
        "one": Answer("7 of 9"),
        "two": Answer(unknown="b fails: locked"),
        "three": Answer(unknown="this host has no c"),
        "four": Answer("1"),
    }


def test_warnings_beside_an_answer_are_no_part_of_it(tmp_path: Path) -> None:
    warns = "echo this library has no version >&2"
    tools = {"a": f"{warns}; echo 7", "b": f"{warns}; echo x; echo y"}
    found = asked(tmp_path, "ask one a a; ask two b count 'x|this' b", tools)
    assert found == {"one": Answer("7"), "two": Answer("1")}


def test_lines_that_nobody_asked_for_change_no_answer_and_make_none() -> None:
    found = answers("lonely\none found 7\nusing libbpf v1.1\n")
    assert found == {"one": Answer("7")}
    assert found["two"] == Answer(unknown="nothing answers")


COUNT = "/proc/sys/net/netfilter/nf_conntrack_count"
TABLES = "/proc/net/ip_tables_names"


def tracked(place: Path, tools: Mapping[str, str], **there: str) -> Mapping[str, Answer]:
    """Answers on a host whose `/proc` has the number of entries, the older tables, or neither."""
    script = tracking.SCRIPT
    for name, path in (("count", COUNT), ("tables", TABLES)):
        if name in there:
            (place / name).write_text(there[name])
        assert path in script
        script = script.replace(path, str(place / name))
    return asked(place, script, tools)


def test_entries_of_the_kernel_are_counted(tmp_path: Path) -> None:
    assert tracked(tmp_path, {}, count="17\n")["tracked"] == Answer("17")


def test_a_kernel_that_cannot_track_has_no_count(tmp_path: Path) -> None:
    found = tracked(tmp_path, {})
    assert tracking.told(found, "")["conntrack"] == "not tracked"


NEWER = "[ \"$*\" = '--stateless list ruleset' ] && echo 'tcp dport 6379 notrack'"
OLDER = "[ \"$*\" = 'iptables -w -t raw -S' ] && echo '-A PREROUTING -j CT --notrack'"
BOTH = {"nft": NEWER, "xtables-legacy-multi": OLDER, "iptables": "echo wrong; exit 1"}


@pytest.mark.parametrize(
    ("tables", "tools", "told"),
    [
        ("nat\nraw\n", BOTH, "iptables and nftables"),
        ("nat\n", BOTH, "nftables"),
        ("raw\n", {**BOTH, "nft": "true"}, "iptables"),
        ("nat\n", {"nft": "true"}, "none"),
        ("raw\n", {"nft": "true"}, "unknown: this host has no xtables-legacy-multi"),
        ("nat\n", {"nft": "echo denied >&2; exit 1"}, "unknown: nft fails: denied"),
    ],
)
def test_rules_against_tracking_are_asked_of_the_way_of_iptables_that_made_them(
    tmp_path: Path, tables: str, tools: Mapping[str, str], told: str
) -> None:
    found = tracked(tmp_path, tools, count="1", tables=tables)
    assert tracking.told(found, "")["notrack"] == told


def test_without_the_older_iptables_its_tables_are_none(tmp_path: Path) -> None:
    found = tracked(tmp_path, BOTH, count="1")
    assert (found["raw"], found["ruleset"]) == (Answer("0"), Answer("1"))


@pytest.mark.parametrize(
    ("entries", "unseen", "told"),
    [
        (SOME, "", "tracked"),
        (NONE, "", "unknown: its host has no entry of any connection"),
        (FAILING, "", "unknown: nft fails: denied"),
        (SOME, "not tracked", "not tracked"),
        (FAILING, "unknown: the interface", "unknown: the interface"),
    ],
)
def test_a_host_tracks_what_it_sees_where_it_has_entries(
    entries: Answer, unseen: str, told: str
) -> None:
    every = {"tracked": entries, "raw": NONE, "ruleset": NONE}
    assert tracking.told(every, unseen) == {"conntrack": told, "notrack": "none"}


@pytest.mark.parametrize(
    ("raw", "ruleset", "told"),
    [
        (NONE, LACKING, "unknown: this host has no nft"),
        (FAILING, LACKING, "unknown: nft fails: denied and this host has no nft"),
        (LACKING, LACKING, "unknown: this host has no nft"),
        (SOME, LACKING, "iptables"),
    ],
)
def test_rules_that_are_found_are_known_whatever_becomes_of_the_others(
    raw: Answer, ruleset: Answer, told: str
) -> None:
    every = {"tracked": SOME, "raw": raw, "ruleset": ruleset}
    assert tracking.told(every, "")["notrack"] == told


LINKS: list[dict[str, Any]] = [{"ifname": "eth0", "xdp": {"mode": 1}}, {"ifname": "lo"}]
MOUNTS = "tmpfs /run tmpfs rw 0 0\ncgroup2 {} cgroup2 rw 0 0\n"
BPFTOOL = """\
case $2 in
    version) echo '{"version":"7.5.0"}' ;;
    net) echo '[{"xdp":[],"tc":[]}]' ;;
    *) echo "$*" ;;
esac
"""


def attached(
    place: Path, tools: Mapping[str, str], mounts: str = MOUNTS, group: str = "0::/pods/p\n"
) -> Mapping[str, Answer]:
    """Answers on a host with these mounts, of a pod's process in this control group."""
    (place / "7").mkdir()
    (place / "7/cgroup").write_text(group)
    (place / "self").mkdir()
    (place / "self/mounts").write_text(mounts.format(place / "groups"))
    return asked(place, ebpf.script(7).replace("/proc", str(place)), tools)


def test_bpftool_is_asked_for_the_group_of_the_pods_process(tmp_path: Path) -> None:
    found = attached(tmp_path, {"bpftool": BPFTOOL})
    assert found["group"] == Answer(f"-j cgroup show {tmp_path}/groups/pods/p effective")
    assert found["devices"] == Answer('[{"xdp":[],"tc":[]}]')
    assert found["bpftool"] == Answer('{"version":"7.5.0"}')


def test_groups_that_are_mounted_nowhere_here_may_have_programs_all_the_same(
    tmp_path: Path,
) -> None:
    found = attached(tmp_path, {"bpftool": BPFTOOL}, mounts="tmpfs /run tmpfs rw 0 0\n")
    assert found["group"].unknown == "this host has no mount of cgroup2"


def test_a_host_without_bpftool_knows_of_xdp_alone(tmp_path: Path) -> None:
    told = ebpf.told(attached(tmp_path, {}), LINKS)
    none = "unknown: this host has no bpftool"
    assert told == {"ebpf_tc": none, "ebpf_xdp": "1", "ebpf_cgroup": none}


def test_a_bpftool_that_fails_is_told_in_its_words(tmp_path: Path) -> None:
    found = attached(tmp_path, {"bpftool": "echo not permitted >&2; exit 1"})
    assert found["devices"] == Answer(unknown="bpftool fails: not permitted")


VERSION = Answer('{"version":"7.5.0"}')
NO_BPFTOOL = Answer(unknown="this host has no bpftool")


def programs(
    version: Answer = VERSION, devices: Answer = NO_BPFTOOL, group: Answer = NO_BPFTOOL
) -> dict[str, str]:
    return ebpf.told({"bpftool": version, "devices": devices, "group": group}, LINKS)


FILTER = {"devname": "veth1", "kind": "clsact/ingress", "name": "from-container", "id": 3}
CLASSIC = {"devname": "veth1", "kind": "clsact/egress"}
OLD = "unknown: this host has no bpftool 7.4 or later, which shows tcx"
TCX = {"devname": "eth0", "kind": "tcx/ingress", "prog_id": 7, "link_id": 2}


@pytest.mark.parametrize(
    ("version", "devices", "told"),
    [
        ("7.4.0", "", "0"),
        ("7.5.0", [{"xdp": [], "tc": []}], "0"),
        ("7.5.0", [{"tc": [FILTER, TCX, CLASSIC]}], "2"),
        ("8.0", [{"tc": [FILTER]}, {"tc": [TCX]}], "2"),
        ("7.3.0", [{"tc": [FILTER]}], OLD),
        ("5.10.237", "", OLD),
        ("7.5.0", [{"xdp": []}], 'unknown: bpftool tells {"version": "7.5.0"} [{"xdp": []}]'),
        ("new", "", 'unknown: bpftool tells {"version": "new"} '),
    ],
)
def test_programs_at_devices_are_counted_by_a_bpftool_that_knows_of_all(
    version: str, devices: object, told: str
) -> None:
    listed = Answer(json.dumps(devices) if devices else "")
    found = programs(Answer(json.dumps({"version": version})), listed)
    assert (found["ebpf_tc"], found["ebpf_xdp"]) == (told, "1")


def test_a_bpftool_that_tells_no_devices_does_not_know_of_none() -> None:
    failing = Answer(unknown="bpftool fails: denied")
    assert programs(devices=failing)["ebpf_tc"] == "unknown: bpftool fails: denied"
    assert programs(NO_BPFTOOL)["ebpf_tc"] == "unknown: this host has no bpftool"


@pytest.mark.parametrize(
    ("group", "told"),
    [
        (Answer(""), "0"),
        (Answer('[{"attach_type": "cgroup_device"}]'), "0"),
        (Answer('[{"attach_type": "device"}, {"attach_type": "cgroup_inet_egress"}]'), "1"),
        (Answer('[{"attach_type": "egress"}, {"attach_type": "cgroup_inet_ingress"}]'), "2"),
        (Answer('[{"attach_type": "cgroup_inet4_connect"}, {"attach_type": "sock_ops"}]'), "0"),
        (Answer("no JSON"), "unknown: bpftool tells no JSON"),
        (Answer("null"), "unknown: bpftool tells null"),
        (NO_BPFTOOL, "unknown: this host has no bpftool"),
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
    assert routing.told(printed) == told


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
