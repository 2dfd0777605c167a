"""How many eBPF programs see the packets of a host's pods: at devices and in control groups. Pure.

What the kernel keeps at its own places (tcx, netkit) and in control groups only `bpftool` tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dunnage.model.unknown import lacking
from dunnage.platforms.kubernetes.asking import Answer, unknown

_PACKETS = ("ingress", "egress")
"""How places in control groups are called whose programs see packets; others see that a device is
opened, or a socket."""
_WHOLE = 7, 4
"""The first version of `bpftool`, Linux 6.8's, of which every build shows tcx and netkit."""
_PROGRAM = ("id", "prog_id")
"""Keys of a program: of a filter, and of tcx and netkit. A filter of classic BPF has neither."""


def script(pid: int) -> str:
    """Ask `bpftool` for what is attached to devices, and to the group of a pod's process."""
    return f"""\
ask bpftool bpftool bpftool -j version
ask devices bpftool bpftool -j net show
groups=$(sed -n -E 's/^[^ ]+ ([^ ]+) cgroup2 .*/\\1/p' /proc/self/mounts | head -n 1)
if [ -n "$groups" ]; then
    own=$(sed -n 's/^0:://p' /proc/{pid}/cgroup)
    ask group bpftool bpftool -j cgroup show "$groups$own" effective
else
    echo group absent mount of cgroup2
fi
"""


def told(answers: Mapping[str, Answer], links: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Programs at `tc`, as XDP and in the pod's control group; `links` are those of the host."""
    return {
        "ebpf_tc": _at_tc(answers["bpftool"], answers["devices"]),
        "ebpf_xdp": str(sum("xdp" in each for each in links)),
        "ebpf_cgroup": _in_group(answers["group"]),
    }


def _at_tc(version: Answer, devices: Answer) -> str:
    if version.unknown or devices.unknown:
        return unknown(version, devices)
    try:
        if _numbers(version) < _WHOLE:
            wanted = ".".join(map(str, _WHOLE))
            return unknown(Answer(unknown=lacking(f"bpftool {wanted} or later, which shows tcx")))
        found = [each["tc"] for each in json.loads(devices.text or "[]")]
        return str(sum(any(key in each for key in _PROGRAM) for listed in found for each in listed))
    except (ValueError, KeyError, TypeError):
        return _strange(f"{version.text} {devices.text}")


def _in_group(group: Answer) -> str:
    if group.unknown:
        return unknown(group)
    try:
        kinds = [str(each["attach_type"]) for each in json.loads(group.text or "[]")]
    except (ValueError, KeyError, TypeError):
        return _strange(group.text)
    return str(sum(kind.endswith(_PACKETS) for kind in kinds))


def _numbers(version: Answer) -> tuple[int, ...]:
    return tuple(int(each) for each in json.loads(version.text)["version"].split(".")[:2])


def _strange(text: str) -> str:
    return unknown(Answer(unknown=f"bpftool tells {text}"))
