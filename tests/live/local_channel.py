"""A channel to this very machine, and a testbed whose hosts are reached by it alone.

It stands for every channel: what is tested of hosts by it holds of nodes as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_traces import eventually

from dunnage.contracts.host import Completed, Host
from dunnage.contracts.testbed import Testbed
from dunnage.hosts.channel.bring import bring
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.channel.host import ChannelHost, Groups
from dunnage.hosts.channel.link import Link
from dunnage.hosts.channel.testbed import ChannelTestbed, end
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Scalar
from dunnage.software.engine import engine_path


class PipeStream:
    """A process of this machine, by its pipes."""

    def __init__(self, argv: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def fileno(self) -> int:
        return self._stdout.fileno()

    def send(self, data: bytes) -> None:
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except BrokenPipeError as error:
            raise EOFError(str(error)) from error

    def receive(self) -> bytes:
        data = os.read(self._stdout.fileno(), 65536)
        if not data:
            raise EOFError("it has ended")
        return data

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class LocalChannel:
    """Commands of this machine, as long as it has not been cut."""

    def __init__(self) -> None:
        self.cut = False
        self.streams: list[PipeStream] = []

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float) -> Completed:
        self._insist()
        try:
            done = subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ChannelError(str(error)) from error
        return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())

    def open(self, argv: Sequence[str]) -> PipeStream:
        self._insist()
        self.streams.append(PipeStream(argv))
        return self.streams[-1]

    def _insist(self) -> None:
        if self.cut:
            raise GoneError("it was cut")


class LocalTestbed(ChannelTestbed[ChannelHost]):
    """Hosts that are directories of this machine with an agent each."""

    def __init__(self, spec: TestbedSpec, top: Path, silence: float = 60.0) -> None:
        super().__init__(one_machine=True)
        self._top = top
        self._silence = silence
        self.channels: dict[str, LocalChannel] = {}
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        number = 0
        for group, size in spec.hosts.items():
            for at in range(1, size + 1):
                number += 1
                name = f"{group}-{at}"
                self._links[name] = self._again(name)
                self._hosts[name] = self._host(name, group, f"127.0.0.{number}")

    def _again(self, name: str) -> Link:
        place = self._top / name
        place.mkdir(exist_ok=True)
        engine, socket, scratch = (str(place / each) for each in ("engine", "s", "scratch"))
        channel = self.channels[name] = LocalChannel()
        Path(socket).unlink(missing_ok=True)  # of one that was killed
        bring(channel, engine_path().read_bytes(), engine)
        words = ["--socket", socket, "--scratch", scratch, "--files", "20000"]
        self.agents[name] = subprocess.Popen(
            [engine, "agent", *words, "--silence", str(self._silence)]
        )
        assert eventually(Path(socket).exists)
        return Link(name, lambda: channel.open([engine, "speak", "--socket", socket]))

    def _told(self) -> Mapping[str, Scalar]:
        return {"hosts.kind": "local"}

    def _named(self, name: str) -> tuple[str, str]:
        return name, os.uname().machine

    def lose(self, name: str) -> None:
        """Cut its power."""
        self.channels[name].cut = True
        self._kill(name)

    def close(self) -> None:
        for link in self._links.values():
            end(link)
        for name in self.agents:
            self._kill(name)

    def _kill(self, name: str) -> None:
        agent = self.agents[name]
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        scratch = str(self._top / name / "scratch")
        subprocess.run(["rm", "-rf", scratch], check=True)

    def _host(self, name: str, group: str, address: str) -> ChannelHost:
        return ChannelHost(
            name=name,
            group=group,
            address=address,
            scratch=str(self._top / name / "scratch"),
            groups=lambda: Groups(f"/local/{name}", f"/local/{name}/agent", {}),
            confined="",
            clock=self.clock,
            link=lambda: self._links[name],
        )


@contextmanager
def open_local(spec: TestbedSpec, silence: float = 60.0) -> Iterator[LocalTestbed]:
    """Hosts of this machine for as long as the `with` lasts."""
    with TemporaryDirectory(prefix="channel-") as top:
        testbed = LocalTestbed(spec, Path(top), silence)
        try:
            yield testbed
        finally:
            testbed.close()


def lose_local(testbed: Testbed, host: Host) -> None:
    """As `TestbedCase` wants it."""
    assert isinstance(testbed, LocalTestbed)
    testbed.lose(host.name)
