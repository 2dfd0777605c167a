"""One member as a plain process of its host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dunnage.contracts.host import Completed, Host, Process
from dunnage.contracts.platform import RunningMember, Seen
from dunnage.errors import TO_LOOK
from dunnage.model.layout import Service
from dunnage.platforms.engine_commands import ask_engine, is_for_engine

_KILLED = 10.0
"""Seconds within which a killed process has ended."""


@dataclass(frozen=True)
class ProcessMember:
    """A member whose process was started, in a control group of its own."""

    service: Service
    host: Host
    process: Process
    unit: str
    log_file: str

    @property
    def hint(self) -> str:
        return TO_LOOK

    def identified(self) -> RunningMember:
        """With its process id and its control group."""
        seen = Seen(self.process.pid, self.host.control_group(self.unit))
        return RunningMember(self.service.member, self.host, seen)

    def ended(self) -> str | None:
        """How it ended, or None while it lives."""
        code = self.process.poll()
        return None if code is None else f"exit code {code}"

    def run(self, argv: Sequence[str], *, stdin: str, timeout: float) -> Completed:
        """Run a command beside it, in its control group as in a container."""
        if is_for_engine(argv):
            return ask_engine(self.host, argv, stdin=stdin, timeout=timeout)
        return self.host.run(argv, stdin=stdin, timeout=timeout, unit=self.unit)

    def log(self, lines: int) -> str:
        """The last lines that it wrote."""
        try:
            written = self.host.get(self.log_file)
        except FileNotFoundError:
            return ""
        return "\n".join(written.decode(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        """End it by its signal, or kill it when that takes too long; then all that it forked."""
        self.process.signal(self.service.stop_signal)
        try:
            self.process.wait(self.service.stop_grace)
        except TimeoutError:
            self.process.signal("KILL")
            self.process.wait(_KILLED)
        # What it forked, such as a snapshot being written, is in its process group.
        self.host.run(["kill", "-KILL", "--", f"-{self.process.pid}"])
