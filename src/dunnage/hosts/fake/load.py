"""The fake generator's program: a model of a database under load, on the virtual clock.

The model is simple enough to know the truth of: throughput is `threads / (SERVICE + threads /
CAPACITY)` in a closed loop, the network `late` costs `LATE_SHARE` of it, a pause costs its share,
and noise is normal, seeded by the plan and the run's directory: no two runs have the same.
Latencies are log-normal around Little's law.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import NormalDist
from typing import Any

from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, MadeLoad, Pause, Server

SERVICE = 0.0005
"""Seconds that one operation takes on an idle database."""
CAPACITY = 20_000.0
"""Operations per second that no load exceeds, unless a server's setting `service` says in seconds
that it answers one operation at a time and how long each takes."""
LATE_SHARE = 0.10
"""What the network `late` costs of the throughput: the overhead that a study should find."""
NOISE = 0.005
"""Standard deviation of what a run reaches, and of the CPU time that it takes, as a share."""
TELLING = 1.0
"""Seconds between two lines of progress."""
TOLERATED = 1e-6
"""Seconds by which a start may have passed: times of a clock that is ahead are rounded."""
SPREAD = 0.3
"""Standard deviation of the logarithm of a latency."""
SERVER_CPU = 40e-6
LATE_CPU = 46e-6
CLIENT_CPU = 10e-6
"""CPU seconds for each operation."""

_WEIGHTS = [0.005, *[0.01] * 99, 0.0035, 0.001, 0.0005]
"""Shares of the points of a latency distribution.

Every quantile that is a metric lies in the middle of a share, so that rounding of counts does not
move it to the next point.
"""
_DEVIATES = [
    NormalDist().inv_cdf(below + weight / 2)
    for below, weight in zip(accumulate(_WEIGHTS, initial=0.0), _WEIGHTS, strict=False)
]
"""The middle of each point's share as a standard normal deviate."""


@dataclass(frozen=True)
class _Course:
    """How a load will go, over all its parts."""

    rate: float
    """Operations answered per second."""
    seconds: float
    service: float
    """Mean service time in seconds."""
    offered: float | None
    late: tuple[float, float] = (0.0, 0.0)
    """Seconds that answers are late by when the measured window begins, and when it ends."""


def load(call: Call) -> Task:
    """`fake-load --plan FILE --out DIRECTORY`: make load, write `result.json` at its end.

    It reads the plan of the engine (`engine-load` schema), and begins at its `start` if it has one.
    """
    plan = json.loads(call.read(call.option("--plan")))
    try:
        servers = [call.world.connect(address) for address in plan["target"]["addresses"]]
    except OSError as error:
        return call.fail(f"cannot connect: {error}")
    arrivals = random.Random(plan["seed"])  # noqa: S311 - a model, not a secret
    noise = random.Random(f"{plan['seed']}:{call.option('--out')}")  # noqa: S311
    course = _course(call, plan, servers, noise, arrivals)
    now = call.world.clock.now()
    waits = 0.0 if plan["start"] is None else plan["start"] - call.host.clock(now)
    if waits < -TOLERATED:
        return call.fail("the load was to begin before all was connected; give a later `start`")
    waits = max(0.0, waits)
    started = now + waits
    began = started + plan["warmup"]
    if plan["phase"] == "run" and plan["part"]["index"] == 0:
        call.world.begin_run(began + course.seconds / 2)
    share = 1 / plan["part"]["of"]
    made = MadeLoad(started, began + course.seconds, course.rate * share)
    restless = noise.gauss(1.0, NOISE)
    for server in servers:
        group = server.process.host.control_group(server.process.unit)
        cpu = LATE_CPU if server.network == "late" else SERVER_CPU
        made.cost[server.process.host.name, group] = cpu * restless / len(servers)
    made.cost[call.host.name, call.host.control_group(call.process.unit)] = CLIENT_CPU
    call.world.loads.append(made)

    def tell() -> None:
        if not call.process.alive:
            return
        now = call.world.clock.now()
        if not call.process.held:
            progress = {"elapsed": now - made.began, "operations": int(made.operations(now))}
            call.streams.say(json.dumps(progress) + "\n")
        call.world.clock.at(now + TELLING, tell)

    call.world.clock.at(made.began + TELLING, tell)

    def finish() -> int:
        answered = _answered(servers, began, course.seconds)
        if plan["phase"] == "load":
            for server in servers:
                server.records = plan["workload"]["records"]
        elif not all(server.records for server in servers):
            call.streams.complain("the database holds no records\n")
            return 1
        running = _running(_pause(call, servers), began, course.seconds, plan["interval"])
        result = _result(plan, course, call.host.clock(began), answered, running, noise)
        result["started"] = call.host.clock(started)
        result["remotes"] = sorted(map(call.world.reached, plan["target"]["addresses"]))
        call.write(f"{call.option('--out')}/result.json", json.dumps(result))
        call.streams.say(
            f"{sum(entry['count'] for entry in result['operations'].values())} operations\n"
        )
        return 0

    def gone() -> None:
        # A load that is killed has made no more load than until now.
        made.ended = min(made.ended, call.world.clock.now())

    return Task(finish=finish, seconds=waits + plan["warmup"] + course.seconds, gone=gone)


def _course(
    call: Call,
    plan: Mapping[str, Any],
    servers: list[Server],
    noise: random.Random,
    arrivals: random.Random,
) -> _Course:
    """Decide how the load will go, from what the servers and their networks are."""
    pause = _pause(call, servers)
    share = pause.average if pause else 0.0
    late = LATE_SHARE if any(server.network == "late" for server in servers) else 0.0
    speed = (1 - share) * (1 - late) * max(0.5, noise.gauss(1.0, NOISE))
    capacity = min(_capacity(server) for server in servers)
    level, records = plan["level"], plan["workload"]["records"]
    offered = level.get("rate")
    if offered is None:
        threads = level["threads"]
        rate = speed * threads / (SERVICE + threads / capacity)
        service = threads / rate
    else:
        if level["arrivals"] == "poisson":
            expected = offered * plan["duration"] if plan["duration"] else records
            offered *= arrivals.gauss(1.0, expected**-0.5)
        rate = min(offered, capacity * speed)
        service = (SERVICE + 1 / capacity) / speed
        if rate < offered:
            # Little's law: over capacity every connection waits for its answer all the time.
            service = level["connections"] / rate
    if plan["operations"] is not None:
        seconds = plan["operations"] / rate
    elif plan["duration"] is not None:
        seconds = plan["duration"]
    else:
        seconds = records / rate
    missing = 0.0 if offered is None else 1 - rate / offered
    begin, end = missing * plan["warmup"], missing * (plan["warmup"] + seconds)
    return _Course(rate, seconds, service, offered, (begin, end))


def _capacity(server: Server) -> float:
    service = server.config["settings"].get("service")
    return CAPACITY if service is None else 1 / float(service)


def _pause(call: Call, servers: list[Server]) -> Pause | None:
    """The longest of the pauses that hold these servers still; None where there is none."""
    places = [(server.process.host.name, server.process.pid) for server in servers]
    holding = (pause for pause in call.world.pauses if any(pause.holds(*place) for place in places))
    return max(holding, key=lambda pause: pause.average, default=None)


def _answered(servers: list[Server], began: float, seconds: float) -> float:
    """The share of the measured window in which every server lived."""
    ends = [server.process.ended for server in servers]
    lived = min((end - began for end in ends if end is not None), default=seconds)
    return min(1.0, max(0.0, lived / seconds))


def _result(
    plan: Mapping[str, Any],
    course: _Course,
    began: float,
    answered: float,
    running: list[int],
    noise: random.Random,
) -> dict[str, Any]:
    """What one part leaves; its counts and those of the other parts add up to the whole."""
    part, of = plan["part"]["index"], plan["part"]["of"]
    mix = _mix(plan)
    total = round(course.rate * course.seconds)
    tilt = noise.gauss(0.0, NOISE)
    operations: dict[str, dict[str, Any]] = {}
    good = bad = 0
    for name, whole in zip(mix, _apportioned(total, mix.values()), strict=True):
        count = _share(whole, part, of)
        right = round(count * answered)
        good, bad = good + right, bad + count - right
        points = _distribution(right, course.service * (1 + tilt))
        operations[name] = {
            "count": right,
            "errors": {"connection": count - right} if count > right else {},
            "service": points,
            "response": None if course.offered is None else _behind(points, course.late),
        }
    cpu = (good + bad) * CLIENT_CPU
    intended = None if course.offered is None else course.offered / of
    return {
        "version": 1,
        "part": plan["part"],
        "began": began,
        "seconds": course.seconds,
        "operations": operations,
        "windows": _windows(plan, course, good, answered, running),
        "client_cpu": cpu,
        "client_busy": min(1.0, cpu / course.seconds),
        "offered": intended,
        "backlog": 0 if intended is None else max(0, round(intended * course.seconds) - good - bad),
    }


def _mix(plan: Mapping[str, Any]) -> Mapping[str, float]:
    """Operation type → its share, the commonest first."""
    if plan["phase"] == "load":
        return {"insert": 1.0}
    shares: Mapping[str, float] = plan["workload"]["mix"]
    names = sorted(shares, key=lambda name: -shares[name])
    return {name.replace("_", "-"): shares[name] for name in names if shares[name]}


def _share(count: int, part: int, of: int) -> int:
    """Part `part` of `count` things; all parts together are all things."""
    return count * (part + 1) // of - count * part // of


def _apportioned(total: int, shares: Iterable[float]) -> list[int]:
    """Whole numbers that add up to `total`, by shares that add up to one."""
    edges = [round(total * below) for below in accumulate(shares, initial=0.0)]
    return [after - before for before, after in pairwise(edges)]


def _distribution(count: int, mean: float) -> list[list[float]]:
    """`count` latencies of a log-normal distribution as [seconds, count] points."""
    numbers = _apportioned(count, _WEIGHTS)
    return [
        [mean * math.exp(SPREAD * deviate - SPREAD**2 / 2), number]
        for deviate, number in zip(_DEVIATES, numbers, strict=True)
        if number
    ]


def _behind(points: list[list[float]], late: tuple[float, float]) -> list[list[float]]:
    """The same operations from their intended starts, later and later as the window goes on."""
    if late[1] <= 0:
        return points
    total, before = sum(count for _, count in points), 0.0
    responses = []
    for seconds, count in points:
        share = (before + count / 2) / total
        responses.append([seconds + late[0] + (late[1] - late[0]) * share, count])
        before += count
    return responses


def _running(pause: Pause | None, began: float, seconds: float, interval: float) -> list[int]:
    """Nanoseconds of each window in which no pause held the servers still."""
    count = max(1, round(seconds / interval))
    edges = [began + number * seconds / count for number in range(count + 1)]
    return [
        round(1e9 * (seconds / count - (pause.stopped(b) - pause.stopped(a) if pause else 0.0)))
        for a, b in pairwise(edges)
    ]


def _windows(
    plan: Mapping[str, Any], course: _Course, good: int, answered: float, running: list[int]
) -> list[dict[str, float]]:
    """The time line: a warm-up that begins at half speed, then as servers were running."""
    interval = plan["interval"]
    rate = course.rate / plan["part"]["of"]
    windows = [
        {
            "start": -number * interval,
            "length": interval,
            "operations": round(rate * interval * (1 if number * interval < 0.5 else 0.5)),
            "errors": 0,
        }
        for number in range(round(plan["warmup"] / interval), 0, -1)
    ]
    count = len(running)
    alive = max(1, round(count * answered))
    until = [good * ran // sum(running[:alive]) for ran in accumulate(running[:alive], initial=0)]
    for number in range(count):
        lives = number < alive and answered > 0
        windows.append(
            {
                "start": number * course.seconds / count,
                "length": course.seconds / count,
                "operations": until[number + 1] - until[number] if lives else 0,
                "errors": 0 if lives else round(rate * course.seconds / count),
            }
        )
    return windows
