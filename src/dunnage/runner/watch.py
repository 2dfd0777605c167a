"""Watch every host while a run goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from dunnage.analysis.soft_interrupts import credible
from dunnage.analysis.windows import WHOLE, soft_interrupts, uncharged, usage
from dunnage.contracts.host import Host, Shared, confinement
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.contracts.testbed import HasNetworks
from dunnage.errors import RunError
from dunnage.model.load import OWN_UNITS, Samples, WatchOrder
from dunnage.model.record import HostUsage
from dunnage.model.soft_interrupts import SoftInterrupts
from dunnage.model.study import CLIENT_GROUP
from dunnage.runner import others
from dunnage.runner.drive import collect, put, start
from dunnage.runner.outweigh import outweighing
from dunnage.runner.stay import Equipment, Stay
from dunnage.runner.substrates import units_on
from dunnage.runner.waiting import Part
from dunnage.study.suggest import listed


@dataclass
class Watch:
    """Samplers on every host; what they left is there once the `with` has ended."""

    equipment: Equipment
    left: list[tuple[Host, dict[str, bytes]]] = field(default_factory=list)
    foreign: Mapping[str, float] = field(default_factory=dict)
    """Name → processors that processes of no host kept busy, as far as they could be seen."""
    unseen: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Host → its members whose use its counters do not show, each with the reason; the empty name
    is all of a host that does not see its machine."""
    untold: str = ""
    """Why the soft interrupts that were counted cannot be told apart; empty where they can."""

    def used(self, host: Host, seen: Samples, began: float, seconds: float) -> HostUsage:
        """What a host used from `began` on, by our clock, as far as its counters show it."""
        found = usage(seen, host.group, began, seconds, host.clock_offset())
        return uncharged(found, self.unseen.get(host.name, {}))

    def soft_interrupts(
        self, began: float, seconds: float, used: Sequence[HostUsage]
    ) -> SoftInterrupts | None:
        """Soft interrupts from `began` on, by our clock; None if the study asks for none.

        `used` is what the hosts used meanwhile.
        """
        equipment = self.equipment
        if not equipment.study.sampler.soft_interrupts:
            return None
        if self.untold:
            return SoftInterrupts(absent=self.untold)
        host = _counting(equipment)
        seen = equipment.sampler.parse(self.raw(host.name))
        return credible(soft_interrupts(seen, began, seconds, host.clock_offset()), used)

    def samples(self) -> list[tuple[Host, Samples]]:
        """What each sampler saw."""
        parse = self.equipment.sampler.parse
        return [(host, parse(files)) for host, files in self.left]

    def artefacts(self) -> list[tuple[str, dict[str, bytes]]]:
        """The raw files, by host."""
        return [(host.name, files) for host, files in self.left]

    def raw(self, host: str) -> dict[str, bytes]:
        """The raw files of one host."""
        return next(files for at, files in self.left if at.name == host)


@contextmanager
def watching(equipment: Equipment, stays: Sequence[Stay]) -> Iterator[Watch]:
    """Watch every host of the testbed, and what of these stays is on it, while the `with` lasts."""
    watch = Watch(equipment)
    clock, before = equipment.testbed.clock, others.seen(equipment.testbed)
    began = clock.now()
    running = [(stay, stay.platform.running()) for stay in stays]
    hosts = equipment.testbed.hosts
    watch.unseen = _unseen(hosts, (member for _, members in running for member in members))
    networks = _networks(equipment)
    with (
        outweighing(equipment.testbed),
        ThreadPoolExecutor(max_workers=len(hosts)) as pool,
        ExitStack() as stack,
    ):

        def begin(host: Host) -> Part:
            units: dict[str, str] = {}
            for stay, members in running:
                units |= _units(stay, host, members)
            rate = equipment.study.sampler.rate
            order = WatchOrder(
                host=host.name,
                address=host.address,
                units=units,
                rate=rate,
                networks=networks if host is _counting(equipment) else {},
            )
            command = equipment.sampler.command(order, host.engine, f"{host.scratch}/watch")
            put(host, command)
            return start(stack, host, command, "sampler")

        begun = [pool.submit(begin, host) for host in hosts]
        wait(begun)  # whatever fails, those that started are ended
        samplers = [starting.result() for starting in begun]
        yield watch
        watch.untold = _untold(networks, _networks(equipment))
        for _, _, process in samplers:
            process.signal("TERM")
        watch.left += pool.map(_ended, samplers)
    after = others.seen(equipment.testbed)
    watch.foreign = others.busy(before, after, clock.now() - began)


def _counting(equipment: Equipment) -> Host:
    """The host whose sampler counts the soft interrupts of the machine: the first client."""
    return equipment.testbed.group(CLIENT_GROUP)[0]


def _networks(equipment: Equipment) -> Mapping[str, tuple[int, ...]]:
    """What soft interrupts are told apart by; nothing where nobody asks."""
    testbed = equipment.testbed
    if not equipment.study.sampler.soft_interrupts or not isinstance(testbed, HasNetworks):
        return {}
    return {name: tuple(sorted(own)) for name, own in testbed.networks().items()}


def _untold(before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]]) -> str:
    """Why soft interrupts cannot be told apart by networks as they were before and after."""
    gone = [name for name in before if not before[name] or not after.get(name)]
    if gone:
        return f"no network namespace of {listed(gone)} could be read"
    changed = [name for name, own in before.items() if own != after[name]]
    if changed:
        return (
            f"a container or another network began or ended on {listed(changed)} while it was "
            "watched, and nobody knows which packets were its"
        )
    return ""


def _ended(sampler: Part) -> tuple[Host, dict[str, bytes]]:
    """Wait for a sampler that was told to end; returns what it left."""
    host, command, process = sampler
    try:
        process.wait(10.0)
    except TimeoutError:
        raise RunError("the sampler did not end", where=host.name) from None
    return host, collect(host, command)


def _unseen(
    hosts: Iterable[Host], members: Iterable[RunningMember]
) -> Mapping[str, Mapping[str, str]]:
    found = {host.name: {WHOLE: why} for host in hosts if (why := confinement(host))}
    for member in members:
        if reason := _why_unseen(member):
            found.setdefault(member.host.name, {})[member.member] = reason
    return found


def _why_unseen(member: RunningMember) -> str:
    """Why the counters of its host do not show what a member uses; empty where they do."""
    if isinstance(member.process, Unseen):
        return member.process.reason
    group, whole = (
        f"/{each.strip('/')}/".replace("//", "/")  # the root's, where a host is a whole machine
        for each in (member.process.control_group, member.host.control_group(""))
    )
    return "" if group.startswith(whole) else "its control group is not inside that of its host"


def _units(stay: Stay, host: Host, running: Sequence[RunningMember]) -> dict[str, str]:
    """The host, the members that it sees, its daemon, and what we run there ourselves; nothing
    where it sees no control group of its machine."""
    if confinement(host):
        return {}
    units = {unit: host.control_group(unit) for unit in ("", *OWN_UNITS)}
    for member in running:
        if member.host.name == host.name and isinstance(member.process, Seen):
            units[member.member] = member.process.control_group
    if isinstance(host, Shared):
        units |= host.shared
    return {**units, **units_on(stay.substrate, host)}
