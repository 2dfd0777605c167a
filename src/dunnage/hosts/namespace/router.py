"""A lab's switch where it translates floating addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunnage.contracts.host import Completed
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace.enter import Door
from dunnage.hosts.namespace.floating import translating
from dunnage.hosts.namespace.network import Plug

_SECONDS = 30.0


@dataclass(frozen=True)
class LabRouter:
    """The switch of one lab, as a router between its hosts."""

    door: Door
    """The way into it: no host's unit has what runs there."""
    environment: Mapping[str, str]
    plugs: Mapping[str, Plug]
    """Host → its end of the cable."""

    @property
    def name(self) -> str:
        return self.door.host

    def floating(self, host: str) -> str:
        return self.plugs[host].floating

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        return self.door.complete(argv, (), timeout=timeout)

    def translate(self) -> str:
        """Begin to translate; returns the name and version of what does.

        Raises UnavailableError with what it complained of.
        """
        words = [f"{name}={value}" for name, value in self.environment.items()]
        script = translating(self.plugs.values())
        done = self.run(["env", *words, "sh", "-c", script], timeout=_SECONDS)
        if done.code != 0:
            raise UnavailableError(
                f"floating addresses cannot be translated: {done.stderr.strip()}",
                where=self.name,
                hint="dunnage doctor",
            )
        return done.stdout.strip()
