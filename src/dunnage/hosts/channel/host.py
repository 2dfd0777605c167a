"""A host that is reached by a channel, and belongs to someone else."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dunnage.contracts.host import Clock, Completed
from dunnage.errors import RunError, UnavailableError
from dunnage.hosts.channel.link import Link
from dunnage.hosts.channel.process import ChannelProcess
from dunnage.model.study import Limits
from dunnage.units import duration

_PROBES = 5
"""Questions for the time, of which that with the quickest answer counts."""
_UNSET = Limits()


@dataclass(frozen=True)
class Groups:
    """Control groups of a host, as its present agent tells them."""

    whole: str
    """The host's; all that runs on it is in or below it."""
    own: str
    """The agent's."""
    shared: Mapping[str, str]
    """Unit → group, of the agent and of all pods there; empty where they are not told apart."""


@dataclass(frozen=True, eq=False)
class ChannelHost:
    """One host; `link` and `groups` are asked for those of its present agent.

    Its units are below the agent's own control group: all other groups there are someone else's.
    """

    name: str
    group: str
    address: str
    scratch: str
    groups: Callable[[], Groups]
    confined: str
    """Why it sees neither the processes nor the files of its machine; empty where it does."""
    clock: Clock
    link: Callable[[], Link]

    @property
    def engine(self) -> str:
        """Where the agent has put itself."""
        return f"{self.scratch}/engine"

    @property
    def shared(self) -> Mapping[str, str]:
        """As `Groups` has it."""
        return self.groups().shared

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        header, outputs = self.link().ask(
            "run", stdin.encode(), takes=timeout, argv=list(argv), unit=unit, seconds=timeout
        )
        if header["told"] == "late":
            raise RunError(
                f"`{shlex.join(argv)}` did not end within {duration(timeout)}", where=self.name
            )
        parts = outputs[: header["stdout"]], outputs[header["stdout"] :]
        return Completed(header["code"], *(each.decode(errors="replace") for each in parts))

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ChannelProcess:
        if (limits or _UNSET) != _UNSET:
            raise self._theirs(f"`{unit}` cannot be limited there")
        link = self.link()
        header, _ = link.ask(
            "start", argv=list(argv), unit=unit, env=dict(env or {}), log=self._mine(log)
        )
        return ChannelProcess(link, header["process"], header["pid"])

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self.link().ask("put", content, path=self._mine(path), mode=mode)

    def get(self, path: str) -> bytes:
        header, content = self.link().ask("get", path=path)
        if header["told"] == "missing":
            raise FileNotFoundError(f"{self.name}:{path}")
        return content

    def remove(self, path: str) -> None:
        self.link().ask("remove", path=self._mine(path))

    def put_tree(self, source: Path, path: str) -> None:
        raise self._theirs(f"`{source}` cannot be shown there at `{path}`")

    def control_group(self, unit: str) -> str:
        groups = self.groups()
        return f"{groups.own}/{unit}" if unit else groups.whole

    def freeze(self, unit: str) -> None:
        raise self._theirs(f"`{unit or 'all of it'}` cannot be held still")

    def thaw(self, unit: str) -> None:
        """Nothing is ever held still."""

    def clock_offset(self) -> float:
        asked = (self._asked_for_time() for _ in range(_PROBES))
        _, offset = min(asked)
        return offset

    def _asked_for_time(self) -> tuple[float, float]:
        """How long the answer took, and how far its clock was ahead then."""
        before = self.clock.now()
        header, _ = self.link().ask("time")
        after = self.clock.now()
        return after - before, float(header["time"]) - (before + after) / 2

    def _mine(self, path: str) -> str:
        """The path, when it is ours: all other files there are someone else's."""
        clean = PurePosixPath(path)
        if ".." in clean.parts or PurePosixPath(self.scratch) not in clean.parents:
            raise RunError(
                f"`{path}` does not belong to Dunnage there: only paths below `{self.scratch}` do",
                where=self.name,
            )
        return path

    def _theirs(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"{what}: the host is someone else's", where=self.name, hint="dunnage schema study"
        )
