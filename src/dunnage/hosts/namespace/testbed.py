"""A lab: hosts made of namespaces on this machine, joined by a switch of their own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from dunnage.contracts.host import Host
from dunnage.contracts.testbed import OtherProcess
from dunnage.errors import UnavailableError, naming
from dunnage.hosts.clean import clean_held, forget_tops
from dunnage.hosts.control_groups.groups import MOST_WEIGHT, TOP, ControlGroups, Shape
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.first_process import FirstProcess
from dunnage.hosts.lab import SWITCH, Lab, registry
from dunnage.hosts.machine_clock import MachineClock
from dunnage.hosts.machine_facts import machine_facts
from dunnage.hosts.namespace.cores import (
    CONTROL_WEIGHT,
    Partition,
    partition,
    usable_cores,
)
from dunnage.hosts.namespace.enter import Door
from dunnage.hosts.namespace.environment import lab_facts
from dunnage.hosts.namespace.floating import ROUTE
from dunnage.hosts.namespace.host import INIT_UNIT, NamespaceHost
from dunnage.hosts.namespace.network import (
    InForce,
    Plug,
    hosts_file,
    in_force,
    join_script,
    plugged,
    switch_batch,
)
from dunnage.hosts.namespace.networks import networks
from dunnage.hosts.namespace.router import LabRouter
from dunnage.hosts.others import others
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.model.study import CONTROL_GROUP, NO_MEMBERS, TestbedSpec
from dunnage.model.value import Scalar


@contextmanager
def open_namespace(
    spec: TestbedSpec, *, name: str, engine: Path, keep: bool
) -> Iterator[NamespaceTestbed]:
    """Make a lab for as long as the `with` lasts, or longer when it is to be kept.

    `name` says what it is for, to whoever finds it. Removes first what labs without an owner left.
    Raises UnavailableError when this machine cannot make hosts.
    """
    if not engine.exists():
        raise UnavailableError(f"`{engine}` is not built", hint="dunnage doctor")
    groups = control_groups()
    with registry():
        clean_held(groups, kept=False)
        lab = Lab.make(name)
    testbed = NamespaceTestbed(spec, lab, groups, engine)
    with ExitStack() as release:
        release.callback(testbed.release)
        testbed.open()
        try:
            yield testbed
        finally:
            if keep:
                testbed.keep()
                release.pop_all()


class NamespaceTestbed:
    """The hosts of one lab. `open` once; then `release` or `keep` once."""

    one_machine = True

    def __init__(self, spec: TestbedSpec, lab: Lab, groups: ControlGroups, engine: Path) -> None:
        self.name = lab.name
        """The lab's name on this machine."""
        self._spec = spec
        self._lab = lab
        self._groups = groups
        self._engine = engine
        self._partition: Partition = partition(usable_cores(), tuple(spec.hosts), spec.cores)
        self._first: dict[str, FirstProcess] = {}
        self._plugs: dict[str, Plug] = {}
        self._in_force: dict[str, InForce] = {}
        self._hosts: dict[str, NamespaceHost] = {}
        self._router: LabRouter | None = None
        self._translator = ""
        self.clock = MachineClock()
        for name, group, plug in plugged(spec):
            self._name_host(name, group, plug)

    @property
    def hosts(self) -> tuple[Host, ...]:
        return tuple(self._hosts.values())

    def group(self, name: str) -> tuple[Host, ...]:
        return tuple(host for host in self._hosts.values() if host.group == name)

    def host(self, name: str) -> NamespaceHost:
        """One host by its name; KeyError if there is none."""
        return self._hosts[name]

    def lost(self) -> tuple[str, ...]:
        return tuple(name for name in self._hosts if not self._first[name].alive())

    def restore(self, name: str) -> None:
        host = self._hosts[name]
        self._groups.thaw(host.control_group(""))  # what is frozen cannot end
        self._first[name].end()
        self._groups.remove(host.control_group(""))
        host.forget_units()
        host.remove_scratch()
        self._plugs[name] = replace(self._plugs[name], generation=self._plugs[name].generation + 1)
        self._begin([name])
        self._join([name], bridge=False)

    def others(self) -> Mapping[tuple[int, int], OtherProcess]:
        return others(self._lab.group)

    def networks(self) -> Mapping[str, frozenset[int]]:
        found = {name: networks(self._first[name]) for name in self._hosts}
        return {**found, BRIDGE: networks(self._first[SWITCH])}

    @contextmanager
    def outweighing(self) -> Iterator[None]:
        """Have all of the lab outweigh what else runs here, our own orchestration included.

        The kernel's own threads are among that: a lab that outweighed them while daemons start and
        containers come and go would keep them from giving back locks that it waits for itself, and
        this machine would stand still for seconds. (Docker's `exe` restarts the writing of a sysctl
        for as long as another holds the network's lock: `addrconf_disable_ipv6`,
        net/ipv6/addrconf.c.)
        """
        self._weigh(MOST_WEIGHT)
        try:
            yield
        finally:
            self._weigh(1.0)

    def _weigh(self, weight: float) -> None:
        for group in (TOP, self._lab.group):
            self._groups.make(group, Shape(weight=weight))

    def environment(self) -> Mapping[str, Scalar]:
        return {
            **machine_facts(),
            **lab_facts(self._spec, self._partition, self._groups.version, self._in_force),
            **({"network.translator": self._translator} if self._translator else {}),
        }

    def translate(self, tools: Mapping[str, str]) -> None:
        """Have the switch translate a floating address of each host from now on."""
        if self._router is not None:
            return
        router = LabRouter(self._door(SWITCH), tools, self._plugs)
        self._translator = router.translate()
        for host in self._hosts.values():
            process = host.enter(["ip", *ROUTE.split()])
            out, err = process.outside.communicate()
            _insist(subprocess.CompletedProcess([], process.outside.returncode, out, err))
        self._router = router

    def open(self) -> None:
        """Make the switch and all hosts, and join them.

        Raises UnavailableError when this machine refuses control groups, hosts or their network.
        """
        with registry():  # nobody removes the group above all labs meanwhile
            for group in (TOP, self._lab.group):
                self._make_group(group, Shape())
        with naming(self._lab.hosts_file):
            self._lab.hosts_file.write_text(hosts_file(self._plugs))
        self._begin([SWITCH, *self._hosts])
        self._join(list(self._hosts), bridge=True)

    def keep(self) -> None:
        """Leave the lab to itself: it lives on without us."""
        self._write_owner(keep=True)
        for first in self._first.values():
            first.keep()
        self._lab.let_go()

    def release(self) -> None:
        """End every host and remove what is left of the lab."""
        for host in self._hosts.values():
            self._groups.thaw(host.control_group(""))
        for first in self._first.values():
            first.end()
        self._groups.remove(self._lab.group)
        shutil.rmtree(self._lab.scratch, ignore_errors=True)
        with registry():
            self._lab.forget()
            forget_tops(self._groups)

    def _name_host(self, name: str, group: str, plug: Plug) -> None:
        self._plugs[name] = plug
        self._hosts[name] = NamespaceHost(
            name=name,
            group=group,
            address=plug.address,
            scratch=str(self._lab.scratch / name),
            top=f"{self._lab.group}/{name}",
            groups=self._groups,
            clock=self.clock,
            door=lambda: self._door(name),
            before=lambda: self._router,
        )

    def _door(self, name: str) -> Door:
        return Door(self._engine, name, self._first[name])

    def _begin(self, names: list[str]) -> None:
        """Start the first processes of hosts side by side, and wait until all are furnished."""
        for name in names:
            join: tuple[Path, ...] = ()
            if name in self._hosts:
                self._make_groups(self._hosts[name])
                self._hosts[name].make_scratch()
                join = self._groups.join_files(self._hosts[name].control_group(INIT_UNIT))
            own = self._lab.machine_id(name)
            self._first[name] = FirstProcess(self._engine, name, self._lab.hosts_file, own, join)
        for name in names:
            self._first[name].ready()
        self._write_owner(keep=False)

    def _make_groups(self, host: NamespaceHost) -> None:
        limited = self._spec.memory if host.group not in NO_MEMBERS else None
        shape = Shape(
            cores=self._partition.groups[host.group],
            memory=None if limited is None else int(limited),
            weight=CONTROL_WEIGHT if host.group == CONTROL_GROUP else 1.0,
        )
        self._make_group(host.control_group(""), shape)
        self._make_group(host.control_group(INIT_UNIT), Shape())

    def _make_group(self, group: str, shape: Shape) -> None:
        try:
            self._groups.make(group, shape)
        except OSError as error:
            raise UnavailableError(
                f"control groups cannot be made: {error.strerror}",
                where=str(error.filename),
                hint="dunnage doctor",
            ) from None

    def _join(self, names: list[str], *, bridge: bool) -> None:
        """Plug hosts into the switch and let each set up its end, all at the same time."""
        plugs = {self._first[name].pid: self._plugs[name] for name in names}
        # Only the network is entered: process ids must mean what they mean here.
        switch = f"--net=/proc/{self._first[SWITCH].pid}/ns/net"
        _insist(
            subprocess.run(
                ["nsenter", switch, "ip", "-batch", "-"],
                input=switch_batch(plugs, bridge=bridge).encode(),
                capture_output=True,
                check=False,
                start_new_session=True,
            )
        )
        joining = {}
        for name in names:
            cores = self._partition.groups[self._hosts[name].group] if self._spec.steer else None
            routes = [ROUTE] if self._router is not None else []
            script = join_script(self._plugs[name], cores, routes)
            joining[name] = self._hosts[name].enter(["sh", "-c", script])
        for name, process in joining.items():
            out, err = process.outside.communicate()
            _insist(subprocess.CompletedProcess([], process.outside.returncode, out, err))
            self._in_force[name] = in_force(out.decode())

    def _write_owner(self, *, keep: bool) -> None:
        first = {name: process.identity for name, process in self._first.items()}
        self._lab.write_owner(first, keep=keep)


def _insist(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode != 0:
        raise UnavailableError(
            f"hosts cannot be joined to a network: {done.stderr.decode().strip()}",
            hint="dunnage doctor",
        )
