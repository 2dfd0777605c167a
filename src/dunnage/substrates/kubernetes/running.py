"""Programs of a Kubernetes on one host: written, started, ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dunnage.contracts.host import Clock, Host, Process
from dunnage.errors import TO_LOOK, HostLostError, UnavailableError
from dunnage.model.load import PODS
from dunnage.model.record import Restart
from dunnage.substrates.kubernetes.node import HELD
from dunnage.substrates.kubernetes.place import Component, Place, Written, place_of
from dunnage.substrates.kubernetes.restarting import restarting, restarts_of
from dunnage.substrates.late import still_late
from dunnage.substrates.rules import rules_in_force

READY = 60.0
"""Seconds in which anything must have become ready."""
INTERVAL = 0.05
_LAST_LINES = 20
_STOP = 20.0

_PREPARE = """
set -e
directory=$1 pods=$2
mkdir -p "$directory"
chmod 700 "$directory"
while read -r _ place kind _; do
    case "$kind" in cgroup | cgroup2) ;; *) continue ;; esac
    mkdir -p "$place$pods"
    [ -e "$place$pods/cpuset.cpus" ] && [ "$kind" = cgroup ] || continue
    cat "$place${pods%/*}/cpuset.cpus" > "$place$pods/cpuset.cpus"
    cat "$place${pods%/*}/cpuset.mems" > "$place$pods/cpuset.mems"
    echo 1 > "$place$pods/cgroup.clone_children"
done < /proc/self/mounts
"""
"""A kubelet wants the group of its pods in every hierarchy, and processes want processors there."""

_KILL = """
while :; do
    found=$(
        while read -r _ place kind _; do
            case "$kind" in cgroup | cgroup2) ;; *) continue ;; esac
            for group in "$@"; do
                find "$place$group" -name cgroup.procs -exec cat {} + 2> /dev/null
            done
        done < /proc/self/mounts | sort -u
    )
    [ -n "$found" ] || exit 0
    kill -KILL $found 2> /dev/null
    sleep 0.02
done
"""


class Running:
    """What runs of a Kubernetes on one host, each program in a unit of its name."""

    def __init__(self, host: Host, environment: Mapping[str, str]) -> None:
        self.host = host
        self.place: Place = place_of(host.scratch)
        self._environment = environment
        self._processes: dict[str, Process] = {}

    @property
    def units(self) -> tuple[str, ...]:
        """Units of all that was started."""
        return tuple(self._processes)

    @property
    def pods(self) -> str:
        """Control group below which those of pods are, absolute."""
        return "/" + self.host.control_group(PODS).strip("/")

    def prepare(self, files: Iterable[Written]) -> None:
        """Begin with an empty directory that only root may look into, and write these files."""
        self.host.remove(self.place.directory)
        self.run("sh", "-c", _PREPARE, "sh", self.place.directory, self.pods)
        for each in files:
            self.host.put(each.path, each.content, each.mode)

    def start(self, component: Component) -> Process:
        """Start a program, to be restarted when it ends; what it says goes to its log.

        Where it was started before, what is left of that is killed: the program may live on though
        nothing restarts it any more.
        """
        if component.unit in self._processes:
            self._kill(component.unit)
        process = self.host.start(
            restarting(component, self.place.restarts_file),
            unit=component.unit,
            log=self.place.log(component.unit),
            env={**self._environment, **component.environment},
        )
        self._processes[component.unit] = process
        return process

    def run(self, *argv: str, timeout: float = 60.0) -> str:
        """The output of a command; UnavailableError with its complaint when it fails."""
        words = [f"{name}={value}" for name, value in self._environment.items()]
        done = self.host.run(["env", *words, *argv], timeout=timeout)
        if done.code != 0:
            complaint = done.stderr.strip() or f"exit code {done.code}"
            raise UnavailableError(
                f"`{argv[0]}` failed: {complaint}", where=self.host.name, hint=TO_LOOK
            )
        return done.stdout

    def rules(self) -> int | None:
        """How many rules for packets are in force, as the node's own tools tell it."""
        return rules_in_force(self.host, self._environment)

    def restarts(self) -> tuple[Restart, ...]:
        """Every restart of a program since `prepare`, in order. Raises HostLostError, RunError."""
        try:
            told = self.host.get(self.place.restarts_file).decode(errors="replace")
        except FileNotFoundError:
            return ()
        return tuple(restarts_of(told, self.host.name, self.host.clock_offset()))

    def pid(self, unit: str) -> int:
        """Process id of what restarts a program, as the host sees it; KeyError if that was not
        started."""
        return self._processes[unit].pid

    def started(self, unit: str) -> bool:
        """Whether a program was started, and its host has not been lost since."""
        try:
            self._processes[unit].poll()
        except (KeyError, HostLostError):
            return False
        return True

    def lives(self, unit: str) -> bool:
        """Whether a program was started and has not ended for good."""
        try:
            return self._processes[unit].poll() is None
        except (KeyError, HostLostError):
            return False

    def insist_alive(self) -> None:
        """Raise UnavailableError with the log of a program that has ended for good."""
        for unit, process in self._processes.items():
            code = process.poll()
            if code is None:
                continue
            ended = f"`{unit}` ended with exit code {code}"
            if code < 0:  # a shell, which tells a signal that ended the program by its exit code
                ended = f"what restarts `{unit}` was ended by signal {-code}"
            what = f"{ended}{self.logged(unit)}"
            raise UnavailableError(what, where=self.host.name, hint=TO_LOOK)

    def until(self, what: str, late: Callable[[], str | None], clock: Clock) -> None:
        """Ask until nothing is late any more; UnavailableError when it takes too long, or when a
        program ends meanwhile. `late` returns the reason."""

        def asked() -> str | None:
            why = late()
            if why is not None:
                self.insist_alive()
            return why

        if why := still_late(asked, clock, seconds=READY, interval=INTERVAL):
            said = f"{what} within {READY:g} s: {why}"
            raise UnavailableError(said, where=self.host.name, hint=TO_LOOK)

    def end(self, unit: str) -> None:
        """Kill what restarts a program, then the program, and wait for the end of both.

        In the other order a restart might be written down that was none. Raises UnavailableError
        where it goes on.
        """
        if self.started(unit):
            process = self._processes[unit]
            process.signal("KILL")
            try:
                process.wait(_STOP)
            except TimeoutError as error:
                late = f"what restarts `{unit}` lives {_STOP:g} s after it was killed"
                raise UnavailableError(late, where=self.host.name, hint=TO_LOOK) from error
            self._kill(unit)
            del self._processes[unit]

    def end_all(self) -> None:
        """Kill every program and every pod, and remove what they kept."""
        for unit in self.units:
            self.host.thaw(unit)
        self._kill(*self.units, PODS)
        self._processes.clear()
        for directory in (self.place.directory, HELD, "/run/containerd", "/run/flannel"):
            self.host.remove(directory)

    def forget(self) -> None:
        """The host was lost with all that ran there."""
        self._processes.clear()

    def freeze(self, *units: str) -> None:
        """Hold programs still, also one that nothing restarts any more."""
        for unit in units:
            if self.started(unit):
                self.host.freeze(unit)

    def thaw(self) -> None:
        """Let all programs go on."""
        for unit in self.units:
            self.host.thaw(unit)

    def _kill(self, *units: str) -> None:
        """Kill whatever is in these units, and wait until nothing is."""
        groups = [f"/{self.host.control_group(unit).strip('/')}" for unit in units]
        self.run("sh", "-c", _KILL, "sh", *groups, timeout=_STOP)

    def logged(self, unit: str) -> str:
        """The end of a program's log with its path, to be put behind a sentence; nothing where it
        has none."""
        log = self.place.log(unit)
        try:
            lines = self.host.get(log).decode(errors="replace").splitlines()
        except (FileNotFoundError, HostLostError):
            return ""
        return "\n".join((f"; its log `{log}` ends:", *lines[-_LAST_LINES:])) if lines else ""
