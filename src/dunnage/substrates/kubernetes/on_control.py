"""The control host: its programs are started, and reached from this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.contracts.kubernetes import ApiServer
from dunnage.substrates.kubernetes.control_plane import API, ASKED, ControlPlane
from dunnage.substrates.kubernetes.place import API_PORT, Component
from dunnage.substrates.kubernetes.running import Running

FORWARDER = "forwarder"
"""Unit of what carries questions from this machine into the lab's network."""


@dataclass(frozen=True)
class OnControl:
    """The part of a Kubernetes that serves all hosts."""

    there: Running
    plane: ControlPlane

    @property
    def address(self) -> str:
        """Where the API server listens in the lab's network."""
        return f"{self.plane.address}:{API_PORT}"

    @property
    def sockets(self) -> Mapping[str, str]:
        """Unit → file that leads to where it answers."""
        return {unit: self.there.place.path(f"{unit}.sock") for unit in (API, *ASKED)}

    @property
    def api(self) -> ApiServer:
        """The API server, for who may do everything."""
        return ApiServer(Path(self.there.place.admin), self.sockets[API])

    def begin(self) -> None:
        """Start the API server, and what it needs or is reached by."""
        self.there.prepare(self.plane.files())
        self.there.run("ln", "-s", str(self.plane.binaries), self.there.place.programs)
        for component in (*self.plane.first(), self._forwarder()):
            self.there.start(component)

    def go_on(self) -> None:
        """Start what needs the API server."""
        self.command()
        self.there.start(self.plane.names())

    def command(self) -> None:
        """Start those controllers that do not run."""
        for component in self.plane.controllers():
            if not self.there.lives(component.unit):
                self.there.start(component)

    def _forwarder(self) -> Component:
        pairs = {API: self.address, **ASKED}
        words = [f"--pair={self.sockets[unit]}={address}" for unit, address in pairs.items()]
        return Component(FORWARDER, (self.there.host.engine, "forward", *words))
