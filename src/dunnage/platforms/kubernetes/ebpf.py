"""How many eBPF programs see the packets of a host's pods: at devices and in control groups. Pure.

What is attached by links of the kernel (tcx, netkit) and to control groups only `bpftool` tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dunnage.platforms.kubernetes.questions import Answer, unknown

_PACKETS = ("ingress", "egress")
"""How places in control groups are called whose programs see packets; others see that a device is
opened, or a socket."""


def script(pid: int) -> str:
    """Ask for filters of `tc`, and `bpftool` for what is attached to devices and to the group of a
    pod's process; without control groups of version 2 there is nothing to be attached to."""
    return f"""\
apart() {{
    printed=$("$@" 2>/dev/null) || {{ "$@" 2>&1; return; }}
    printf '%s\\n' "$printed"
}}
filters() {{
    qdiscs=$(tc qdisc show 2>&1) || {{ printf '%s' "$qdiscs"; return 1; }}
    printf '%s\\n' "$qdiscs" | {{
        programs=0
        while read -r word kind handle dev device rest; do
            case $kind in
                clsact) sides='ingress egress' ;;
                ingress) sides=ingress ;;
                *) continue ;;
            esac
            for side in $sides; do
                if found=$(tc filter show dev "$device" "$side" 2>&1); then
                    more=$(printf '%s\\n' "$found" | grep -c -E ' bpf .*handle ')
                    programs=$((programs + more))
                elif ip link show dev "$device" >/dev/null 2>&1; then
                    printf '%s' "$found"
                    exit 1
                fi
            done
        done
        echo "$programs"
    }}
}}
ask filters tc filters
ask devices bpftool apart bpftool -j net show
groups=$(sed -n -E 's/^[^ ]+ ([^ ]+) cgroup2 .*/\\1/p' /proc/self/mounts | head -n 1)
if [ -n "$groups" ]; then
    own=$(sed -n 's/^0:://p' /proc/{pid}/cgroup)
    ask group bpftool apart bpftool -j cgroup show "$groups$own" effective
else
    echo group found
fi
"""


def told(answers: Mapping[str, Answer], links: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Programs at `tc`, as XDP and in the pod's control group; `links` are those of the host.

    Raises KeyError where a question was not asked.
    """
    return {
        "ebpf_tc": _at_tc(answers["filters"], answers["devices"]),
        "ebpf_xdp": str(sum("xdp" in each for each in links)),
        "ebpf_cgroup": _in_group(answers["group"]),
    }


def _at_tc(filters: Answer, devices: Answer) -> str:
    """By `bpftool`, which knows of more, or else by `tc`."""
    if not devices.unknown:
        try:
            return str(sum(len(each.get("tc", ())) for each in json.loads(devices.text or "[]")))
        except (ValueError, AttributeError, TypeError):
            return unknown(Answer(unknown=f"bpftool tells {devices.text}"))
    return unknown(filters) if filters.unknown else str(filters.count)


def _in_group(group: Answer) -> str:
    if group.unknown:
        return unknown(group)
    try:
        kinds = [str(each["attach_type"]) for each in json.loads(group.text or "[]")]
    except (ValueError, KeyError, TypeError):
        return unknown(Answer(unknown=f"bpftool tells {group.text}"))
    return str(sum(kind.endswith(_PACKETS) for kind in kinds))
