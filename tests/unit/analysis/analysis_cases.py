"""Values that the tests of analysis start from; each is valid until a test spoils it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dunnage.analysis.checks import Evidence, MemberState
from dunnage.model.choices import Arrivals, ClientPlace, Peers, Phase, Storage
from dunnage.model.deployment import Deployment, Workload
from dunnage.model.layout import Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder, Sample, Samples
from dunnage.model.process import ProcessFacts
from dunnage.model.record import (
    HostUsage,
    Latency,
    MachineUsage,
    Measurement,
    OperationStats,
    StayRecord,
    Usage,
    Window,
)
from dunnage.model.study import DatabaseSpec, Limits

WORKLOAD = Workload(name="A", core="A", phase=Phase.RUN, records=100)
CLOSED, OPEN = Level(threads=8), Level(rate=1000.0)


def latency(scale: float = 1.0, count: int = 4000) -> Latency:
    quantiles = {"p50": 0.001, "p90": 0.002, "p95": 0.003, "p99": 0.004, "p99.9": 0.005}
    return Latency(
        count=count,
        mean=0.0012 * scale,
        minimum=0.0001,
        maximum=0.01 * scale,
        quantiles={name: seconds * scale for name, seconds in quantiles.items()},
    )


def windows(counts: list[int], length: float = 0.2) -> tuple[Window, ...]:
    return tuple(
        Window(start=i * length, length=length, operations=count, errors=0)
        for i, count in enumerate(counts)
    )


def measurement(**changed: Any) -> Measurement:
    known: dict[str, Any] = {
        "began": 1000.0,
        "seconds": 4.0,
        "operations": {
            "all": OperationStats(count=4000, errors={}, service=latency(), response=None),
            "read": OperationStats(count=4000, errors={}, service=latency(), response=None),
        },
        "windows": windows([200] * 20),
        "remotes": ("10.0.0.1:6379",),
        "client_cpu": 0.04,
        "client_busy": 0.5,
        "offered": None,
        "backlog": 0,
        "parts": 1,
    }
    return Measurement(**(known | changed))


def host(name: str = "db-1", group: str = "db", **changed: Any) -> HostUsage:
    known: dict[str, Any] = {
        "host": name,
        "group": group,
        "whole": Usage(cpu=0.4, swap=0.0, throttled=0.0, memory_resident=2.0**20),
        "units": {},
        "machine": MachineUsage(processors=1.0, steal=0.0, iowait=0.001, busy=0.12),
        "samples": 20,
        "expected_samples": 20,
        "sampler_cpu": 0.01,
    }
    return HostUsage(**(known | changed))


def order(level: Level = CLOSED, **changed: Any) -> LoadOrder:
    known: dict[str, Any] = {
        "workload": WORKLOAD,
        "phase": Phase.RUN,
        "level": level,
        "target": Target("redis", "single", (), frozenset(), {}),
        "connections": 64,
        "arrivals": Arrivals.CONSTANT,
        "warmup": 1.0,
        "duration": 4.0,
        "operations": None,
        "timeout": 10.0,
        "seed": 1,
    }
    return LoadOrder(**(known | changed))


def evidence(**changed: Any) -> Evidence:
    known: dict[str, Any] = {
        "measurement": measurement(),
        "usage": (host(), host("client-1", "client")),
        "order": order(),
        "endpoint": frozenset({"10.0.0.1:6379", "10.0.0.2:6379"}),
        "parts": 1,
        "members": (MemberState("redis-1", "db-1", room=2.0**30),),
        "clocks": {"db-1": 0.0, "client-1": 0.001},
    }
    return Evidence(**(known | changed))


def samples(
    readings: Mapping[float, Mapping[str, float]],
    machine: Mapping[float, Mapping[str, float]] | None = None,
    unit: str = "",
    absent: Mapping[str, str] | None = None,
) -> Samples:
    return Samples(
        host="db-1",
        interval=1.0,
        samples=tuple(
            Sample(time=time, units={unit: counters}, machine=(machine or {}).get(time, {}))
            for time, counters in sorted(readings.items())
        ),
        own_cpu=tuple(0.01 * i for i in range(len(readings))),
        absent=absent or {},
    )


def deployment(name: str = "native", **changed: Any) -> Deployment:
    known: dict[str, Any] = {
        "name": name,
        "title": name.capitalize(),
        "platform": "native",
        "network": "host",
        "endpoint": "host-port",
        "storage": Storage.BIND,
        "peers": Peers.ENDPOINT,
        "client": ClientPlace.HOST,
        "hosts": "db",
        "limits": Limits(),
        "slowdown": 0.0,
        "database": DatabaseSpec(kind="redis", version="7.0"),
    }
    return Deployment(**(known | changed))


def process(member: str = "redis-1", **changed: Any) -> ProcessFacts:
    known: dict[str, Any] = {
        "member": member,
        "role": "primary",
        "executable": "/opt/dunnage/redis/bin/redis-server",
        "executable_sha256": "a" * 64,
        "mapped": {"/opt/dunnage/redis/lib/libc.so.6": "b" * 64},
        "argv": ("redis-server", "/srv/dunnage/redis-1/redis.conf"),
        "files": {"/srv/dunnage/redis-1/redis.conf": "port 6379\nbind 10.0.0.1\nsave ''\n"},
        "limits": {"open files": "20000:20000", "capabilities": "ff", "memory_limit": "512"},
        "data": {"file_system": "ext4", "mount_options": "rw,noatime", "source": "/dev/vda1"},
        "kernel": {"release": "6.1", "net.core.somaxconn": "4096"},
        "user": "0:0",
    }
    return ProcessFacts(**(known | changed))


def stay(name: str = "native", block: int = 1, **changed: Any) -> StayRecord:
    known: dict[str, Any] = {
        "stay": f"b{block}-{name}",
        "block": block,
        "deployment": name,
        "started": 100.0 * block,
        "ready": 100.0 * block + 1,
        "stages": {},
        "facts": {"version": "7.0.15", "replica-announce-ip": "10.0.0.1", "appendonly": "no"},
        "processes": (process(),),
        "endpoint": ("10.0.0.1:6379",),
        "network": {},
    }
    return StayRecord(**(known | changed))
