"""A pod on the client's host that acts as a host, so that a generator need not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dunnage.contracts import Completed, Host, Process, Tree
from dunnage.model.layout import ENGINE_PROGRAM
from dunnage.model.study import Limits
from dunnage.platforms.guest import Networked


class ClientPod(Networked):
    """Programs run in the network and the mounts of a pod that rests, in the host's own units.

    The pod's image holds the engine and nothing else. The scratch directory is mounted at its own
    path, so files are put and fetched as on the host.
    """

    def __init__(self, host: Host, tree: Tree, pid: int) -> None:
        super().__init__(host)
        self.engine = f"{tree.prefix}/{ENGINE_PROGRAM}"
        self.get, self.remove = host.get, host.remove
        self._pid = pid

    @property
    def pid(self) -> int:
        return self._pid

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        """Run a program to its end in the pod; raises RunError after `timeout` seconds."""
        return self._host.run(self._inside(argv), stdin=stdin, timeout=timeout, unit=unit)

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Process:
        """Start a program in the pod; what it writes goes to the file `log` of the host."""
        return self._host.start(self._inside(argv), unit=unit, log=log, env=env, limits=limits)

    def _inside(self, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--target={self._pid}", "--net", "--mount", "--", *argv]
