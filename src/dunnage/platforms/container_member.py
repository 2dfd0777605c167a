"""One member in its container, as its daemon tells it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from docker import DockerClient
from docker.models.containers import Container

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Completed, Host
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.contracts.software import Tree
from dunnage.docker_api import translated
from dunnage.errors import TO_LOOK, StayError
from dunnage.model.layout import Service
from dunnage.platforms.engine_commands import ask_engine, is_for_engine
from dunnage.platforms.execute import NOT_RUN, execute
from dunnage.platforms.image_of_tree import command

OUT_OF_SIGHT = Unseen("its host does not see the process that its daemon runs")
"""The daemon is on another machine, or has process ids of its own."""
_TOLD, _INTERVAL = 2.0, 0.05
"""Seconds within which a daemon tells that a process has ended, and between two questions."""


@dataclass(frozen=True)
class ContainerMember:
    """A member whose container was started."""

    service: Service
    host: Host
    tree: Tree
    daemon: Daemon
    client: DockerClient
    container: Container

    @property
    def hint(self) -> str:
        return TO_LOOK

    def state(self) -> dict[str, Any]:
        """What the daemon says of it now."""
        with spoken("a container cannot be inspected", self.service.member):
            self.container.reload()
        state: dict[str, Any] = self.container.attrs["State"]
        return state

    def identified(self) -> RunningMember:
        """With its process, where the host has one of that id in the container's control group.

        Raises StayError when a daemon of ours runs it, and it is not there all the same.
        """
        return RunningMember(self.service.member, self.host, self._process())

    @property
    def sandbox(self) -> str:
        """The file by which its daemon holds its network, as its daemon told it last."""
        return str(self.container.attrs["NetworkSettings"].get("SandboxKey") or "")

    def ended(self) -> str | None:
        """How it ended, or None while it lives; with what kept its daemon from starting it."""
        state = self.state()
        if state["Running"]:
            return None
        oom = ", out of memory" if state["OOMKilled"] else ""
        error = f", its daemon says: {told}" if (told := state.get("Error")) else ""
        return f"exit code {state['ExitCode']}{oom}{error}"

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        """Run a command in the container, or the host's engine in the container's network."""
        if is_for_engine(argv):
            return self._ask_engine(argv, stdin=stdin, timeout=timeout)
        return self._execute(command(argv, self.tree), stdin=stdin, timeout=timeout)

    def _execute(self, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        with spoken("a command cannot be run in the container", self.service.member):
            return execute(
                self.client.api,
                str(self.container.id),
                argv,
                stdin=stdin,
                timeout=timeout,
                where=self.service.member,
            )

    def log(self, lines: int) -> str:
        """The last lines that it wrote."""
        with spoken("the container's log cannot be read", self.service.member):
            return bytes(self.container.logs(tail=lines)).decode(errors="replace")

    def _process(self) -> Seen | Unseen:
        """As the host's kernel has it: another process may have the id that the daemon tells."""
        pid = int(self.state()["Pid"])
        group = self._control_group(pid) if pid > 0 else None
        if group is not None:
            return Seen(pid, group)
        if self.daemon.ours:
            self._await_end(pid)
        return OUT_OF_SIGHT

    def _control_group(self, pid: int) -> str | None:
        """The container's, as a process of its host is in it: of memory, unified, or any other.

        None where there is no such process, or it is in no group of the container.
        """
        read = self.host.run(["cat", f"/proc/{pid}/cgroup"])
        if read.code != 0:
            if self.host.run(["test", "-d", f"/proc/{pid}"]).code == 1:
                return None
            what = f"the control groups of process {pid} cannot be read: {read.stderr.strip()}"
            raise StayError(what, where=self.service.member, hint="dunnage doctor")
        lines = (line.split(":", 2) for line in read.stdout.splitlines())
        own = {names: path for _, names, path in lines if str(self.container.id) in path}
        ranked = sorted(own, key=lambda names: ("memory" not in names.split(","), names != ""))
        return own[ranked[0]] if ranked else None

    def _await_end(self, pid: int) -> None:
        """Wait until the daemon tells that the container has ended; StayError when it has not."""
        ends = time.monotonic() + _TOLD
        while self.state()["Running"]:
            if time.monotonic() >= ends:
                raise StayError(
                    f"its daemon says that it runs as process {pid}, but its host has no such "
                    "process in a control group of the container",
                    where=self.service.member,
                    hint="dunnage doctor",
                )
            time.sleep(_INTERVAL)

    def _ask_engine(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        """In the member's network; inside its container where the host cannot enter that."""
        process = self._process()
        if not self.container.attrs["State"]["Running"]:
            return Completed(NOT_RUN, "", "the container is not running")
        if isinstance(process, Unseen):
            return self._execute((self.host.engine, *argv[1:]), stdin=stdin, timeout=timeout)
        network = ("nsenter", f"--target={process.pid}", "--net")
        return ask_engine(self.host, argv, stdin=stdin, timeout=timeout, within=network)


def spoken(what: str, where: str) -> AbstractContextManager[None]:
    """Say the daemon's refusal as the stay's error; `where` is a member or a host."""
    return translated(StayError, what, where=where, hint="dunnage doctor")
