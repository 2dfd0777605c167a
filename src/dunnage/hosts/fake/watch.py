"""Programs of fake hosts that watch and hold other processes: sample, pause, inspect."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dunnage.hosts.fake.host import FakeHost, Task
from dunnage.hosts.fake.world import Call, MadeLoad, Pause, Server, World
from dunnage.model.soft_interrupts import BRIDGE

IDLE_CPU = 0.002
"""CPU seconds that a process uses in a second of doing nothing."""
SAMPLE_CPU = 0.0004
"""CPU seconds that one sample takes."""
PIECE_CPU = 0.000004
"""CPU seconds of one piece of the work by which a processor's speed is told."""
CONTROL = {"arithmetic": 250_000.0, "loopback": 30_000.0}
"""Pieces and exchanges in a second."""
PROCESSORS = 4
OPERATION_BYTES = 1200
SERVER_MEMORY = 48 * 2**20
SOFT_METHOD = "made up: so much for each operation"
SOFT_CPU = 0.000003
"""Seconds of soft interrupts of an operation at its client, at its servers, and in between."""
PAUSE_INTERVAL = 0.2
"""Seconds between lines of a pause's file."""
PAUSE_CPU = 0.0005
"""CPU seconds a second that stopping processes takes."""


def sample(call: Call) -> Task:
    """`fake-sample --plan FILE --out DIRECTORY`: on TERM, write `samples.jsonl` of its life."""
    plan = json.loads(call.read(call.option("--plan")))
    began, interval = call.world.clock.now(), 1 / plan["rate"]

    def finish() -> int:
        why = call.world.uncounted if plan["networks"] else ""
        header = {
            "line": "header",
            "version": 5,
            "host": plan["host"],
            "interval": interval,
            "cgroups": 2,
            "absent": {
                "pressure_io": "fake hosts have no disks",
                **({"soft_interrupts": why} if why else {}),
            },
            **({"soft_method": SOFT_METHOD} if plan["networks"] and not why else {}),
        }
        lines: list[object] = [header]
        # Counters begin anywhere, so load that was over before the first sample is left out.
        recent = [load for load in call.world.loads if load.ended > began]
        groups = {
            unit: _Group.of(call.world, call.host, group, recent)
            for unit, group in plan["units"].items()
        }
        hosts = [
            _Group.of(call.world, host, host.control_group(""), recent)
            for host in call.world.hosts.values()
        ]
        ended = call.world.clock.now()
        ticks = [began + number * interval for number in range(int((ended - began) / interval) + 1)]
        times = ticks if ticks[-1] == ended else [*ticks, ended]  # a last sample when told to end
        for number, time in enumerate(times):
            lines.append(
                {
                    "line": "sample",
                    "time": call.host.clock(time),
                    "units": {
                        unit: group.counters(time, whole=not unit) for unit, group in groups.items()
                    },
                    "machine": _machine(call.world, hosts, time - began, time),
                    "own_cpu": number * SAMPLE_CPU,
                    **(
                        {}
                        if why
                        else _soft(plan["networks"], () if call.world.threaded else recent, time)
                    ),
                }
            )
        lines.append({"line": "footer", "samples": len(times), "missed": 0})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        call.write(f"{call.option('--out')}/samples.jsonl", text)
        return 0

    return Task(finish=finish, seconds=None, heeds=True)


def _soft(networks: Iterable[str], recent: Sequence[MadeLoad], time: float) -> dict[str, object]:
    """Soft interrupts by networks, as they stood at `time`; nothing where there are none."""
    made = [(load, {host for host, _ in load.cost} | {BRIDGE}) for load in recent]
    found = {
        name: SOFT_CPU * sum(load.operations(time) for load, passed in made if name in passed)
        for name in networks
    }
    rest = dict.fromkeys(("elsewhere", "no_packet", "other_kinds"), 0.0)
    return {"soft_interrupts": {"networks": found, **rest}} if found else {}


def engine(call: Call) -> Task:
    """`dunnage-engine control|inspect|pause|resolve|--version`, with options of the real one."""
    verbs = {
        "control": _control,
        "inspect": _inspect,
        "pause": _pause,
        "resolve": _resolve,
        "--version": _version,
    }
    verb = verbs.get(call.argv[1] if len(call.argv) > 1 else "")
    if verb is None:
        return call.fail("a fake host's engine can control, inspect, pause and resolve", 2)
    return verb(call)


def _resolve(call: Call) -> Task:
    """Names mean something in containers only, as those of an orchestrator's network do."""
    found = {name: call.world.addresses(name) if call.root else [] for name in call.argv[2:]}
    if unknown := sorted(name for name, addresses in found.items() if not addresses):
        return call.fail(f"{unknown[0]}: no such name")
    call.streams.say(json.dumps(found) + "\n")
    return Task()


def _version(call: Call) -> Task:
    call.streams.say("dunnage-engine fake\n")
    return Task()


def _control(call: Call) -> Task:
    """Fake hosts are always equally fast, but for a chance that their clock decides."""
    chance = random.Random(f"{call.host.name}:{call.world.clock.now():.6f}")  # noqa: S311
    rates = {name: rate * math.exp(chance.gauss(0, 0.01)) for name, rate in CONTROL.items()}
    call.streams.say(json.dumps(rates) + "\n")
    return Task()


def _pause(call: Call) -> Task:
    """Hold `--pid`s for `--share` of the time; `--out` tells, line by line, how it goes."""
    share, period = float(call.option("--share", "0")), float(call.option("--period", "0.1"))
    pids = frozenset(int(pid) for pid in call.options("--pid"))
    began, path = call.world.clock.now(), call.root + call.option("--out")
    ahead = call.host.clock(began) - began
    begin = float(call.option("--begin", str(began + ahead))) - ahead
    rest = call.option("--rest", "")
    periods = round(float(rest) / period) if rest else None
    pause = Pause(call.host.name, pids, share, period, begin, periods)
    call.world.pauses.append(pause)
    call.host.put(path, b"")

    def tell() -> None:
        if not call.process.alive:
            return
        now = call.world.clock.now()
        line = {
            "time": call.host.clock(now),
            "paused": pause.stopped(now),
            "cpu": PAUSE_CPU * (now - began),
        }
        call.host.put(path, call.host.get(path) + json.dumps(line).encode() + b"\n")
        call.world.clock.at(now + PAUSE_INTERVAL, tell)

    def gone() -> None:
        pause.alive = False

    tell()
    return Task(seconds=None, heeds=True, gone=gone)


def _inspect(call: Call) -> Task:
    process = call.host.processes.get(int(call.option("--pid", "0")))
    if process is None:
        return call.fail(f"no process {call.option('--pid')}")
    executable = process.argv[0]
    digest = hashlib.sha256(executable.encode()).hexdigest()
    limits = process.limits
    files, absent = _files(call)
    inspection = {
        "executable": executable,
        "executable_sha256": digest,
        "mapped": {executable: digest},
        "argv": list(process.argv),
        "environment": {"PATH": "/usr/bin"},
        "files": files,
        "limits": {
            "open_files": "1024:1048576",
            "memory_limit": str(limits.memory if limits and limits.memory else "none"),
            "cpu_quota": str(limits.cpus if limits and limits.cpus else "none"),
            "pids_limit": str(limits.pids if limits and limits.pids else "none"),
        },
        "data": {"file_system": "memory", "mount_options": "rw", "source": "none"},
        "kernel": {"release": "fake", "vm.swappiness": "60"},
        "user": "0:0",
        "absent": absent,
    }
    call.streams.say(json.dumps(inspection) + "\n")
    return Task()


def _files(call: Call) -> tuple[dict[str, str], dict[str, str]]:
    """Text of every file asked for, and why there is none of the others."""
    texts: dict[str, str] = {}
    absent: dict[str, str] = {}
    for path in call.options("--file"):
        try:
            texts[path] = call.read(path)
        except FileNotFoundError:
            absent[path] = "No such file or directory"
    return texts, absent


@dataclass(frozen=True)
class _Group:
    """A control group of a host: the servers in it, and what load costs there."""

    servers: tuple[Server, ...]
    costs: tuple[tuple[MadeLoad, float], ...]
    """Load, and its CPU seconds per operation."""

    @classmethod
    def of(cls, world: World, host: FakeHost, group: str, recent: Sequence[MadeLoad]) -> _Group:
        """Find what belongs to a group, for all of its samples."""
        return cls(
            servers=tuple(
                server
                for server in world.servers.values()
                if server.process.host is host and _below(server, group)
            ),
            costs=tuple(
                (load, cost)
                for load in recent
                for (where, used), cost in load.cost.items()
                if where == host.name and (used + "/").startswith(group + "/")
            ),
        )

    def cpu(self, time: float) -> float:
        """CPU seconds used until `time`."""
        idle = sum(IDLE_CPU * max(0.0, time - server.process.began) for server in self.servers)
        return idle + sum(load.operations(time) * cost for load, cost in self.costs)

    def counters(self, time: float, *, whole: bool) -> dict[str, float]:
        """Counters as they stood at `time`; they follow from the work done."""
        cpu = self.cpu(time)
        counters = {
            "cpu": cpu,
            "cpu_user": cpu * 0.6,
            "cpu_system": cpu * 0.4,
            "throttled": 0.0,
            "memory_resident": float(SERVER_MEMORY * len(self.servers)),
            "memory_cache": 0.0,
            "swap": 0.0,
            "disk_read": 0.0,
            "disk_written": 0.0,
        }
        if whole:
            operations = sum(load.operations(time) for load, _ in self.costs)
            counters |= {
                "received": operations * OPERATION_BYTES,
                "sent": operations * OPERATION_BYTES,
                "packets_received": operations,
                "packets_sent": operations,
                "inner_received": 0.0,
                "inner_sent": 0.0,
                "inner_packets_received": 0.0,
                "inner_packets_sent": 0.0,
            }
        return counters


def _machine(
    world: World, hosts: Sequence[_Group], elapsed: float, time: float
) -> dict[str, float]:
    """The whole machine's counters: all fake hosts are one machine, as in a lab."""
    busy = sum(host.cpu(time) for host in hosts) + sum(other.cpu(time) for other in world.others)
    total = 1000.0 + PROCESSORS * elapsed
    return {
        "cpu_total": total,
        "cpu_idle": total - busy,
        "softirq": busy * 0.05,
        "iowait": 0.0,
        "steal": 0.0,
        "pressure_cpu": busy * 0.01,
        "pressure_memory": 0.0,
        "speed_work": 1000.0 + elapsed,
        "speed_cpu": (1000.0 + elapsed) * PIECE_CPU,
    }


def _below(server: Server, group: str) -> bool:
    own = server.process.host.control_group(server.process.unit)
    return (own + "/").startswith(group + "/")
