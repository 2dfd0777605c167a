"""A pod on the client's host that acts as a host, so that a generator need not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dunnage.contracts.host import Completed, Host, Process
from dunnage.errors import StayError
from dunnage.model.choices import ClientKind
from dunnage.model.study import Limits
from dunnage.platforms.guest import Networked

_NAMES = ("/etc/resolv.conf", "/etc/hosts")
"""Files by which a pod finds names."""
_AS_IN_POD = f"""
for each in {" ".join(_NAMES)}; do
    mount --bind "$1$each" "$each" || exit 125
done
shift
exec "$@"
"""


class ClientPod(Networked):
    """Programs of the client's host, in its own units, that have the network of a pod that rests.

    They find names as the pod does, by copies of its files. All else is the host's: files are put
    and fetched there.
    """

    client_kind: ClassVar[ClientKind] = ClientKind.IN_NETWORK

    def __init__(self, host: Host, pid: int) -> None:
        super().__init__(host)
        self.get, self.remove = host.get, host.remove
        self._pid = pid
        self._names = f"{host.scratch}/names-of-pod"
        for file in _NAMES:
            read = host.run(["cat", f"/proc/{pid}/root{file}"])
            if read.code != 0:
                raise StayError(
                    f"a client's pod cannot be looked into: {read.stderr.strip()}",
                    where=host.name,
                    hint=f"command -v cat nsenter unshare  # on `{host.name}`, which needs them",
                )
            host.put(f"{self._names}{file}", read.stdout.encode())

    def leave(self) -> None:
        """Remove what was copied of the pod."""
        self._host.remove(self._names)

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
        """Run a program to its end; raises RunError after `timeout` seconds."""
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
        """Start a program; what it writes goes to the file `log` of the host."""
        return self._host.start(self._inside(argv), unit=unit, log=log, env=env, limits=limits)

    def _inside(self, argv: Sequence[str]) -> list[str]:
        """A command that keeps its process: each word becomes the next."""
        script = ("sh", "-c", _AS_IN_POD, "as-in-pod", self._names)
        return [
            "nsenter",
            f"--target={self._pid}",
            "--net",
            "unshare",
            "--mount",
            "--propagation=private",
            *script,
            *argv,
        ]
