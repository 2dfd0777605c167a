"""Docker daemons of our own: one on each host, inside the host's namespaces, gone with it.

containerd is the daemon's child. Its bridge, its iptables rules and its mounts live in the host's
namespaces, so this machine's own network and mounts stay untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial

from dunnage.contracts.docker import Daemon, DockerBinaries
from dunnage.contracts.host import Host, Process
from dunnage.contracts.testbed import Testbed
from dunnage.docker_api import Refused, connect, explanation, translated
from dunnage.errors import HostLostError, UnavailableError
from dunnage.model.agreement import agreed
from dunnage.model.value import Scalar
from dunnage.substrates.inquiry import daemon_facts
from dunnage.substrates.ranges import SUBNET_SIZE, Ranges, container_ranges
from dunnage.substrates.rules import rules_in_force
from dunnage.substrates.side_by_side import side_by_side

UNIT = "daemon"
HINT = "dunnage doctor"
CONTAINERS = "containers"
STORAGE_DRIVER = "overlay2"
CGROUP_DRIVER = "cgroupfs"
_READY = 60.0
_STOP = 20.0
_INTERVAL = 0.02
_SOCKET_PATH_LIMIT = 108
"""Size of `sun_path` in `struct sockaddr_un`, unix(7)."""
_LAST_LINES = 20


@contextmanager
def open_daemons(
    testbed: Testbed, binaries: DockerBinaries, hosts: Sequence[Host], *, keep: bool = False
) -> Iterator[Daemons]:
    """Start a daemon on each host, all at once; stop them and remove their data at the end.

    With `keep` they live on for as long as their hosts, unless one of them did not come up. Raises
    UnavailableError, with the daemon's last log lines, when one does not come up as asked.
    """
    daemons = Daemons(testbed, binaries, hosts)
    with ExitStack() as stack:
        stack.callback(daemons.stop)
        daemons.start()
        if keep:
            stack.pop_all()
        yield daemons


@dataclass(frozen=True)
class _Place:
    """Where a daemon keeps its things on its host."""

    directory: str

    @property
    def socket(self) -> str:
        return f"{self.directory}/sock"

    @property
    def log(self) -> str:
        return f"{self.directory}/dockerd.log"

    def argv(self, dockerd: str, cgroup_parent: str, ranges: Ranges) -> tuple[str, ...]:
        return (
            dockerd,
            f"--host=unix://{self.socket}",
            f"--data-root={self.directory}/data",
            f"--exec-root={self.directory}/exec",
            f"--pidfile={self.directory}/pid",
            f"--config-file={self.directory}/daemon.json",
            f"--storage-driver={STORAGE_DRIVER}",
            f"--exec-opt=native.cgroupdriver={CGROUP_DRIVER}",
            f"--cgroup-parent={cgroup_parent}",
            f"--bip={ranges.bridge}",
            f"--default-address-pool=base={ranges.pool},size={SUBNET_SIZE}",
            "--userland-proxy=true",
            "--log-level=warn",
        )


class Daemons:
    """The daemons that we started. Hosts that are lost are passed over until they are mended."""

    def __init__(self, testbed: Testbed, binaries: DockerBinaries, hosts: Sequence[Host]) -> None:
        self._testbed = testbed
        self._binaries = binaries
        self._hosts = {host.name: host for host in hosts}
        self._processes: dict[str, Process] = {}
        self._facts: dict[str, Mapping[str, Scalar]] = {}

    def start(self) -> None:
        """Start every daemon, and wait until all answer."""
        self._all(self._open)

    def daemon(self, host: str) -> Daemon:
        there = self._hosts[host]
        return Daemon(
            host=host,
            url=f"unix://{self._place(there).socket}",
            environment=self._binaries.environment,
        )

    def units(self, host: str) -> tuple[str, ...]:
        return (UNIT,) if host in self._hosts else ()

    def rules(self, host: str) -> int | None:
        there = self._hosts.get(host)
        return None if there is None else rules_in_force(there, self._binaries.environment)

    def wake(self) -> None:
        """Let the daemons go on."""
        self._all(lambda host: host.thaw(UNIT))

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """Hold daemons, containerd, shims and proxies still."""

        def hold(host: Host) -> None:
            if hosts is None or host.name in hosts:
                host.freeze(UNIT)

        self._all(hold)

    def mend(self, host: str) -> None:
        """Start the daemon of a host that was lost and has been restored, if it had one."""
        there = self._hosts.get(host)
        if there is not None and self._ended(there):
            self._open(there)

    def facts(self) -> Mapping[str, Scalar]:
        """What the daemons told of themselves when they had come up."""
        return agreed(self._facts)

    def logged(self, host: str) -> str:
        """The end of a daemon's log, to be put behind a sentence; nothing where it has none."""
        there = self._hosts[host]
        return _log(there, self._place(there))

    def stop(self) -> None:
        """Remove all containers, stop the daemons, remove their data."""
        self._all(self._close)

    def _open(self, host: Host) -> None:
        place = self._place(host)
        if len(place.socket) >= _SOCKET_PATH_LIMIT:
            raise UnavailableError(
                f"the daemon's socket `{place.socket}` has a path that is too long for the kernel; "
                "give the group of hosts a shorter name",
                where=host.name,
                hint="dunnage plan STUDY",
            )
        ranges = container_ranges(other.address for other in self._testbed.hosts)
        group = _absolute(host.control_group(CONTAINERS))
        host.remove(place.directory)
        host.put(f"{place.directory}/daemon.json", b"{}")
        self._processes[host.name] = host.start(
            place.argv(str(self._binaries.dockerd), group, ranges),
            unit=UNIT,
            log=place.log,
            env=self._binaries.environment,
        )
        self._facts[host.name] = self._wait(host, place)

    def _wait(self, host: Host, place: _Place) -> Mapping[str, Scalar]:
        clock = self._testbed.clock
        ends = clock.now() + _READY
        while True:
            code = self._processes[host.name].poll()
            if code is not None:
                raise self._failure(host, place, f"dockerd ended with exit code {code}")
            try:
                client = connect(self.daemon(host.name))
            except Refused as refusal:
                if clock.now() >= ends:
                    what = f"dockerd did not answer within {_READY:g} s: {explanation(refusal)}"
                    raise self._failure(host, place, what) from refusal
                clock.sleep(_INTERVAL)
                continue
            with closing(client):
                facts = daemon_facts(client, host, self._binaries.environment)
                return self._verified(host, place, facts)

    def _verified(
        self, host: Host, place: _Place, facts: Mapping[str, Scalar]
    ) -> Mapping[str, Scalar]:
        asked = {"storage_driver": STORAGE_DRIVER, "cgroup_driver": CGROUP_DRIVER}
        for name, value in asked.items():
            if facts[name] != value:
                what = f"{name.replace('_', ' ')} is `{facts[name]}`, not `{value}` as asked for"
                raise self._failure(host, place, what)
        return {**facts, "userland_proxy": True, "origin": self._binaries.origin}

    def _failure(self, host: Host, place: _Place, what: str) -> UnavailableError:
        return UnavailableError(f"{what}{_log(host, place)}", where=host.name, hint=HINT)

    def _close(self, host: Host) -> None:
        """Take every step to the end of a daemon, even if some fail; then raise the first error."""
        directory = self._place(host).directory
        steps: list[Callable[[], object]] = [
            partial(host.remove, directory),
            partial(self._remove_traces, host),
        ]
        if not self._ended(host):
            living = (self._remove_containers, self._end)
            steps = [
                partial(host.thaw, UNIT),
                *(partial(step, host) for step in living),
                partial(_unmount_below, host, directory),
                *steps,
            ]
        failures = []
        for step in steps:
            try:
                step()
            except Exception as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _end(self, host: Host) -> None:
        process = self._processes[host.name]
        process.signal("TERM")
        try:
            process.wait(_STOP)
        except TimeoutError:
            self._kill(host, process)

    def _remove_traces(self, host: Host) -> None:
        if self._binaries.traces:
            host.run(["rm", "-f", "-d", *self._binaries.traces])  # directories: only empty ones

    def _kill(self, host: Host, process: Process) -> None:
        process.signal("KILL")
        try:
            process.wait(_STOP)
        except TimeoutError as error:
            late = f"dockerd lives {_STOP:g} s after it was killed"
            raise self._failure(host, self._place(host), late) from error

    def _remove_containers(self, host: Host) -> None:
        try:
            client = connect(self.daemon(host.name))
        except Refused:
            return  # it never answered, so it has none
        what, hint = "containers were not removed", "dunnage clean"
        with closing(client), translated(UnavailableError, what, where=host.name, hint=hint):
            for container in client.containers.list(all=True):
                container.remove(v=True, force=True)

    def _ended(self, host: Host) -> bool:
        process = self._processes.get(host.name)
        try:
            return process is None or process.poll() is not None
        except HostLostError:
            return True

    def _place(self, host: Host) -> _Place:
        return _Place(f"{host.scratch}/docker")

    def _all(self, action: Callable[[Host], object]) -> None:
        """Do it on all living hosts at once; then raise the first error, if there was one."""
        lost = set(self._testbed.lost())
        side_by_side([host for name, host in self._hosts.items() if name not in lost], action)


def mounts_below(table: str, directory: str) -> tuple[str, ...]:
    """Mount points below a directory, the last mounted first, from the text of `/proc/mounts`."""
    points = (fields[1] for line in table.splitlines() if len(fields := line.split()) > 1)
    return tuple(reversed([point for point in points if point.startswith(f"{directory}/")]))


def _log(host: Host, place: _Place) -> str:
    try:
        lines = host.get(place.log).decode(errors="replace").splitlines()[-_LAST_LINES:]
    except (FileNotFoundError, HostLostError):
        return ""
    return "\n".join(("; its log ends:", *lines)) if lines else ""


def _unmount_below(host: Host, directory: str) -> None:
    """Unmount what a daemon leaves mounted: the namespace of the hosts' own network, at least."""
    for point in mounts_below(host.run(["cat", "/proc/mounts"]).stdout, directory):
        host.run(["umount", point])


def _absolute(group: str) -> str:
    return "/" + group.strip("/")
