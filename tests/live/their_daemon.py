"""Docker daemons of someone else's, and the contexts that lead to them.

A study names a context before its lab is there. So a context leads to a socket that listens from
the beginning, and the daemon behind it comes up on a host of the lab when the study has asked.
"""

from __future__ import annotations

import select
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from lab_traces import eventually

from dunnage.contracts.docker import Daemon, DockerBinaries
from dunnage.docker_api import Refused, connect
from dunnage.hosts.lab import SCRATCH
from dunnage.hosts.namespace.host import ENGINE
from dunnage.software.docker import remove_traces
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.certificates import Authority

INSIDE = "127.0.0.1:2376"
"""Where a daemon listens for what comes by its context, in its host's network."""
SHELL = (sys.executable, "-m", "dunnage", "lab", "shell", "--lab")
READY = 60.0
"""Seconds within which a daemon answers."""


class TheirDaemon:
    """A daemon on a host of a lab that is yet to come.

    Until `answer` whoever asks it waits. With an authority it answers those only whom that vouches
    for. It ends with its host.
    """

    def __init__(self, host: str, authority: Authority | None = None) -> None:
        self._host = host
        self._authority = authority
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._lab = ""
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
        for process in self._running:
            process.kill()
            process.wait()
        remove_traces()

    @property
    def reached(self) -> Daemon:
        """Where its context leads."""
        return Daemon(self._host, f"tcp://127.0.0.1:{self._socket.getsockname()[1]}", ours=False)

    @property
    def beside(self) -> Daemon:
        """Where it answers this machine's own programs, by a file on the disk of its host."""
        return Daemon(self._host, f"unix://{self._place / 'sock'}", ours=False)

    @property
    def asked(self) -> bool:
        """Whether somebody has asked and waits."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def start(self, lab: str) -> None:
        """Bring it up on its host; fails with its log if it does not come up."""
        self._lab = lab
        found = DebianSoftware().dockerd()
        self._place.mkdir()
        (self._place / "daemon.json").write_text("{}")
        argv = (
            str(found.dockerd),
            f"--host={self.beside.url}",
            f"--host=tcp://{INSIDE}",
            f"--data-root={self._place / 'data'}",
            f"--exec-root={self._place / 'exec'}",
            f"--pidfile={self._place / 'pid'}",
            f"--config-file={self._place / 'daemon.json'}",
            "--storage-driver=overlay2",
            "--exec-opt=native.cgroupdriver=cgroupfs",
            # Below its host's, so that containers have what is the host's and nothing beside it.
            f"--cgroup-parent=/dunnage/{lab}/{self._host}/theirs",
            *self._secured(),
        )
        log = self._place / "log"
        process = self._on_host(argv, found.environment, log)
        up = eventually(lambda: self._answers() or process.poll() is not None, READY, 0.1)
        assert up and process.poll() is None, log.read_text()

    def take_image(self, archive: Path, name: str, path: str) -> None:
        """Let it have an image of a root file system, whose programs are found in `path`."""
        repository, _, tag = name.rpartition(":")
        with closing(connect(self.beside)) as client:
            changes = f"ENV PATH={path}"
            client.api.import_image_from_file(str(archive), repository, tag, changes=changes)
            assert client.images.get(name).tags == [name]

    def answer(self) -> None:
        """From now on it answers whoever comes by its context."""
        number = self._socket.fileno()
        argv = (ENGINE, "forward", "--listener", f"{number}={INSIDE}")
        self._on_host(argv, {}, self._place / "forward.log", number)

    @property
    def _place(self) -> Path:
        return SCRATCH / self._lab / self._host / "theirs"

    def _secured(self) -> tuple[str, ...]:
        if self._authority is None:
            return ()
        return asks_for_certificates(self._authority, self._place)

    def _on_host(
        self, argv: tuple[str, ...], environment: Mapping[str, str], log: Path, *descriptors: int
    ) -> subprocess.Popen[bytes]:
        """Start a program on its host, with some descriptors of ours."""
        variables = (f"{name}={value}" for name, value in environment.items())
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*SHELL, self._lab, self._host, "--", "env", *variables, *argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=descriptors,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def _answers(self) -> bool:
        try:
            with closing(connect(self.beside)) as client:
                return bool(client.ping())
        except Refused:
            return False


def answering_by_certificates(
    found: DockerBinaries, authority: Authority, place: Path
) -> DockerBinaries:
    """A daemon's program that answers at `INSIDE` too, and there those only whom the authority
    vouches for; `place` is to be its directory, which hosts see."""
    place.mkdir()
    asking = shlex.join([f"--host=tcp://{INSIDE}", *asks_for_certificates(authority, place)])
    program = place / "dockerd"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(found.dockerd))} "$@" {asking}\n')
    program.chmod(0o755)
    return replace(found, dockerd=program)


def asks_for_certificates(authority: Authority, place: Path) -> tuple[str, ...]:
    """Write what a daemon needs to ask for certificates; returns its options."""
    issued = authority.server("daemon", ("127.0.0.1",))
    (place / "ca.pem").write_bytes(authority.certificate)
    (place / "cert.pem").write_bytes(issued.certificate)
    key = place / "key.pem"
    key.touch(0o600)
    key.write_bytes(issued.key)
    return (
        "--tlsverify",
        f"--tlscacert={place / 'ca.pem'}",
        f"--tlscert={place / 'cert.pem'}",
        f"--tlskey={key}",
    )


def write_secured(directory: Path, name: str, authority: Authority, who: Authority) -> None:
    """Add certificates to a context, as `docker context create --docker ca=…,cert=…,key=…` does.

    Its daemon's is believed if `authority` signed it, and `who` signs ours.
    """
    place = directory / "contexts" / "tls" / sha256(name.encode()).hexdigest() / "docker"
    place.mkdir(parents=True)
    ours = who.client("us")
    (place / "ca.pem").write_bytes(authority.certificate)
    (place / "cert.pem").write_bytes(ours.certificate)
    (place / "key.pem").write_bytes(ours.key)
