"""One measurement of deployments that live at once: they are driven in turns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from dunnage.analysis.checks import Evidence, judge, kept_time, status
from dunnage.analysis.turns import idle, own_usage, spans, windows_of
from dunnage.analysis.values import failed as errors_of
from dunnage.contracts.host import Host, Process
from dunnage.errors import HostLostError, RunError
from dunnage.model.load import SETTLING, TURN_CONTROL, Command, LoadOrder, Samples
from dunnage.model.plan import RunPlan
from dunnage.model.record import HostUsage, OperationStats, Record, Turn
from dunnage.model.study import CLIENT_GROUP, NO_MEMBERS
from dunnage.runner.condition import condition
from dunnage.runner.drive import collect, keep_artefacts, order_for, start_all
from dunnage.runner.ending import concerning, ended, ending
from dunnage.runner.fill import Settled, fill, settle
from dunnage.runner.inspection import to_hold
from dunnage.runner.members import insist_whole, states
from dunnage.runner.stay import Stay
from dunnage.runner.waiting import Part, wait
from dunnage.runner.watch import Watch, watching
from dunnage.study.williams import order as balanced

INTERVAL = 0.05
"""Seconds of a window of the generators' time lines: turns must be cut out of them."""
PATIENCE = 30.0
"""Seconds that turns may take beyond their time, and generators after they were told to end."""
PLAN, TURNS = "turns.json", "turns.jsonl"


@dataclass(frozen=True)
class _Driven:
    """One deployment's load while others had their turns."""

    stay: Stay
    run: RunPlan
    at_rest: Settled
    order: LoadOrder
    parts: Sequence[Part]
    left: list[dict[str, bytes]] = field(default_factory=list)
    """What each of its generators left, once all have ended."""


@dataclass(frozen=True)
class _Together:
    """What all deployments of a measurement share."""

    taken: list[Turn]
    raw: dict[str, bytes]
    """What told the turns."""
    watch: Watch
    offset: float
    """Seconds by which the client's clock, which turns are told by, is ahead of ours."""
    started: float
    ended: float
    clocks: Mapping[str, float]
    attempt: int

    @property
    def began(self) -> float:
        """When the first turn began, by our clock."""
        return self.taken[0].began - self.offset

    @property
    def seconds(self) -> float:
        """From the first turn's beginning to the last one's end."""
        return self.taken[-1].ended - self.taken[0].began

    @cached_property
    def watched(self) -> Mapping[str, tuple[Host, Samples]]:
        """Host's name → what was seen on it."""
        return {host.name: (host, seen) for host, seen in self.watch.samples()}

    @cached_property
    def used(self) -> Mapping[str, HostUsage]:
        """Host's name → what it used over all turns."""
        return {
            name: self.watch.used(host, seen, self.began, self.seconds)
            for name, (host, seen) in self.watched.items()
        }

    def idle(self, host: Host, name: str, unit: str = "") -> float | None:
        """CPU seconds a second of a host, or of a unit on it, in others' turns than `name`'s."""
        ahead = host.clock_offset() - self.offset
        readings = [
            (sample.time - ahead, sample.units[unit]["cpu"])
            for sample in self.watched[host.name][1].samples
            if "cpu" in sample.units.get(unit, {})
        ]
        return idle(readings, self.taken, name)


def measure(stays: Sequence[Stay], runs: Sequence[RunPlan], attempt: int) -> list[Record]:
    """Drive all deployments in turns, and judge what each did in its own."""
    equipment = stays[0].equipment
    testbed, load = equipment.testbed, equipment.study.load
    with ThreadPoolExecutor(max_workers=len(stays)) as pool:
        at_rest = list(pool.map(_prepare, stays, runs))
    started = testbed.clock.now()
    before = {host.name: host.clock_offset() for host in testbed.hosts}
    length = load.turns or 0.0
    names = [stay.deployment.name for stay in stays]
    rounds = range(1, math.ceil((load.duration or 0.0) / length) + 1)
    order = [name for at in rounds for name in balanced(names, at, f"{runs[0].id}:turns")]
    with watching(equipment, stays) as watch:
        driven, taken, raw = _drive(stays, runs, at_rest, order, length)
    for stay in stays:
        with concerning(stay.deployment.name):
            stay.platform.running()
    whole = _Together(
        taken=taken,
        raw=raw,
        watch=watch,
        offset=testbed.group(CLIENT_GROUP)[0].clock_offset(),
        started=started,
        ended=testbed.clock.now(),
        clocks={host.name: host.clock_offset() - before[host.name] for host in testbed.hosts},
        attempt=attempt,
    )
    return [_record(one, whole, len(rounds), length) for one in driven]


def _prepare(stay: Stay, run: RunPlan) -> Settled:
    """Make a deployment hold what a run expects, and wait until it has nothing left to do."""
    with concerning(stay.deployment.name):
        insist_whole(stay)
        fill(stay, run)
        condition(stay, run)
        return settle(stay)


def _record(one: _Driven, shared: _Together, rounds: int, length: float) -> Record:
    """What one deployment did in its turns, judged by every gate."""
    stay, run = one.stay, one.run
    equipment, name = stay.equipment, stay.deployment.name
    generated = equipment.generator.parse(one.left)
    own = [turn for turn in shared.taken if turn.name == name]
    counted_in = spans(shared.taken, name)
    if generated.began > counted_in[0].began:
        raise RunError(f"the generator of `{name}` began after its first turn")
    if generated.began + generated.seconds < own[-1].ended:
        raise RunError(f"the generator of `{name}` ended before its turns were over")
    windows = windows_of(generated.windows, generated.began, own, counted_in)
    counted = sum(window.operations for window in windows)
    if not counted:
        raise RunError(f"the database answered nothing in the turns of `{name}`")
    every = windows_of(generated.windows, generated.began, own, spans(own, name, settling=0.0))
    in_turns = sum(window.operations for window in every)
    driven = math.fsum(turn.ended - turn.began for turn in own)
    outside, share = shared.seconds - driven, counted / in_turns
    hosts = equipment.testbed.group(stay.deployment.hosts)
    used = [
        own_usage(shared.used[h.name], partial(shared.idle, h, name), outside, share) for h in hosts
    ]
    running = stay.platform.running()
    pieces = [(span.began - shared.offset, span.ended - span.began) for span in counted_in]
    paused = stay.slowdown.paused_in_all(pieces) if kept_time(shared.clocks) else None
    whole = generated.operations["all"]  # with what was answered before the first turn
    busy = generated.client_busy * generated.seconds * in_turns / whole.count / driven
    measurement = generated.model_copy(
        update={
            "seconds": math.fsum(window.length for window in windows),
            "operations": {
                "all": OperationStats(
                    count=counted, errors=whole.errors, service=None, response=None
                )
            },
            "windows": windows,
            "client_cpu": generated.client_cpu * counted / whole.count,
            "client_busy": busy,
            "client_limited": None,  # it was held still in the turns of others
        }
    )
    shared_by_all = [host for host in shared.used.values() if host.group in NO_MEMBERS]
    checks = judge(
        Evidence(
            measurement=measurement,
            usage=tuple(shared.used.values()),
            order=replace(one.order, duration=rounds * (length - SETTLING)),
            others=frozenset(shared.used) - {host.host for host in (*used, *shared_by_all)},
            endpoint=stay.endpoint,
            parts=len(stay.clients),
            members=states(stay, failed=any(errors_of(measurement).values())),
            one_machine=equipment.testbed.one_machine,
            slowdown=stay.deployment.slowdown,
            paused=paused,
            quota=stay.deployment.limits.cpus is not None,
            clocks=shared.clocks,
            watched=shared.seconds,
            idle=[shared.idle(member.host, name, member.member) for member in running],
            foreign=shared.watch.foreign,
        )
    )
    return Record(
        run=run.id,
        stay=stay.name,
        block=run.block,
        deployment=run.deployment,
        workload=run.workload,
        level=run.level,
        repeat=run.repeat,
        position=run.position,
        started=shared.started,
        ended=shared.ended,
        status=status(checks),
        checks=checks,
        measurement=measurement,
        usage=(*used, *shared_by_all),
        one_machine=equipment.testbed.one_machine,
        data_size=one.at_rest.data_size,
        settled=one.at_rest.seconds,
        paused=paused,
        turns=tuple(own),
        restarts=stay.restarts.so_far(),
        artefacts=_artefacts(one, shared, hosts),
    )


def _artefacts(one: _Driven, shared: _Together, hosts: Sequence[Host]) -> tuple[str, ...]:
    """Keep the raw files of a deployment's run; returns their names."""
    sources = [(f"part-{at}", files) for at, files in enumerate(one.left, start=1)]
    sources += [
        ("turns", shared.raw),
        *((host.name, shared.watch.raw(host.name)) for host in hosts),
    ]
    return keep_artefacts(one.stay, one.run, shared.attempt, sources)


def _drive(
    stays: Sequence[Stay],
    runs: Sequence[RunPlan],
    at_rest: Sequence[Settled],
    order: Sequence[str],
    length: float,
) -> tuple[list[_Driven], list[Turn], dict[str, bytes]]:
    """Start everybody's generators, let them run in turns, and collect what they left."""
    longest = len(order) * (length + 2 * TURN_CONTROL) + 2 * PATIENCE
    driven = []
    with ExitStack() as stack:
        for stay, run, settled in zip(stays, runs, at_rest, strict=True):
            ordered = _order(stay, run, longest)
            parts = start_all(stack, stay, ordered, f"runs/{run.id}")
            driven.append(_Driven(stay, run, settled, ordered, parts))
        for one in driven:
            with concerning(one.stay.deployment.name):
                for part in one.parts:
                    _await_load(one.stay, *part)
        pids = {
            one.stay.deployment.name: [process.pid for _, _, process in one.parts] for one in driven
        }
        raw = _take_turns(stack, stays, pids, order, length)
        for one in driven:
            for _, _, process in one.parts:
                process.signal("TERM")
        for one in driven:
            with concerning(one.stay.deployment.name):
                for part in one.parts:
                    wait(one.stay, part, PATIENCE)
        for one in driven:
            one.left.extend(collect(host, command) for host, command, _ in one.parts)
    taken = [Turn.model_validate_json(line) for line in raw[TURNS].decode().splitlines()]
    if [turn.name for turn in taken] != list(order):
        raise RunError(f"{len(taken)} of {len(order)} turns were taken")
    return driven, taken, raw


def _await_load(stay: Stay, host: Host, command: Command, process: Process) -> None:
    """Wait until a generator has connected and makes its load; raises RunError if it does not."""
    clock = stay.equipment.testbed.clock
    ends = clock.now() + PATIENCE
    while clock.now() < ends:
        try:
            host.get(f"{command.directory}/{command.begun}")
        except FileNotFoundError:
            if process.poll() is not None:
                break
            clock.sleep(0.005)
        else:
            return
    wait(stay, (host, command, process), PATIENCE)
    raise RunError("a generator ended before its turns", where=host.name)


def _take_turns(
    stack: ExitStack,
    stays: Sequence[Stay],
    pids: Mapping[str, Sequence[int]],
    order: Sequence[str],
    length: float,
) -> dict[str, bytes]:
    """Let generators, and the members they drive, run in turns; returns what was told of it.

    The one host of the clients holds members by their control groups, which all hosts of one
    machine share.
    """
    (host,) = stays[0].clients
    directory = f"{host.scratch}/turns"
    rest = 1.1 / stays[0].equipment.study.sampler.rate  # a reading at least falls into it
    members = {stay.deployment.name: stay.platform.running() for stay in stays}
    plan = {
        "version": 4,
        "pids": pids,
        "groups": {
            stay.deployment.name: [
                *(to_hold(member).control_group for member in members[stay.deployment.name]),
                *stay.slowdown.groups,
            ]
            for stay in stays
        },
        "order": list(order),
        "seconds": length,
        "rest": rest,
        "control": TURN_CONTROL,
    }
    host.put(f"{directory}/{PLAN}", json.dumps(plan).encode())
    words = ("turns", "--plan", f"{directory}/{PLAN}", "--out", f"{directory}/{TURNS}")
    process = host.start((host.engine, *words), unit="turns", log=f"{directory}/log")
    there = {member.host.name: member.host for running in members.values() for member in running}
    stack.push(ended(host, process, directory))
    stack.push(_released(process, there.values()))  # before that, so that everybody goes on
    try:
        code = process.wait(len(order) * (length + 2 * TURN_CONTROL) + 2 * rest + PATIENCE)
    except TimeoutError:
        raise RunError("turns did not end", where=host.name) from None
    if code != 0:
        log = host.get(f"{directory}/log").decode(errors="replace").strip()
        raise RunError(f"turns ended with code {code}: {log[-400:]}", where=host.name)
    return {TURNS: host.get(f"{directory}/{TURNS}")}


def _released(process: Process, hosts: Iterable[Host]) -> Callable[..., None]:
    """Return an exit after which nobody stands still, whatever became of who told the turns."""

    def release() -> None:
        try:
            process.signal("TERM")
            released = process.wait(PATIENCE) == 0
        except (HostLostError, TimeoutError):
            released = False
        if not released:
            for host in hosts:
                host.thaw("")

    return ending(release)


def _order(stay: Stay, run: RunPlan, duration: float) -> LoadOrder:
    """The load of one deployment, until it is told to end.

    No operation in it times out: a server stands still in others' turns. One that hangs for good
    is no error then, but its client does no other, so that throughput falls.
    """
    return replace(
        order_for(stay, run),
        duration=duration,
        timeout=max(stay.equipment.study.load.timeout, duration),
        interval=INTERVAL,
        latencies=False,
        until_told=True,
    )
