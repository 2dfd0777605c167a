"""A machine in QEMU without acceleration: it is started, given commands, and ended.

Its processors are emulated, and so several times slower than real ones. Its clock is slowed as
well, so that no time limit of ours or of its programs has to know where it runs.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from debian_image import Image
from machine_agent import READY

from gate.processes import end_with_parent

PROGRAM = "qemu-system-x86_64"
SLOWED = 4
"""How many of our seconds are one of the machine's."""
PROCESSORS, MEMORY = 2, "6G"
_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
"""What tells QEMU a slower time: later versions of QEMU can do that by themselves."""
_KERNEL = (
    "root=/dev/vda",
    "rw",
    "console=ttyS0",
    "panic=-1",
    "net.ifnames=0",
    "systemd.mask=serial-getty@ttyS0.service",
)
_BOOT = 1200.0
"""Seconds, of ours, in which it must have come up."""
_END = 120.0
_GRACE = 60.0
"""Seconds by which the answer to a command whose time is over may be late."""
_LAST_LINES = 30


class MachineError(Exception):
    """The machine did not do what it should; with the end of its console."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and all that it said."""

    code: int
    said: str


def argv(image: Image, handed: Path, console: Path, port: Path) -> tuple[str, ...]:
    """The command that starts it. Nothing that it writes to its disks is kept.

    `handed` is the image of a second disk, `console` the file that gets what the kernel says, and
    `port` the socket that leads to the agent.
    """
    return (
        PROGRAM,
        *("-nodefaults", "-display", "none", "-no-reboot", "-nic", "none"),
        *("-accel", "tcg,thread=multi,tb-size=512"),
        *("-cpu", "max,la57=off", "-smp", str(PROCESSORS), "-m", MEMORY),
        *("-kernel", str(image.kernel), "-initrd", str(image.initial)),
        *("-append", " ".join(_KERNEL)),
        *("-drive", f"file={image.root},format=raw,if=virtio,snapshot=on,cache=unsafe"),
        *("-drive", f"file={handed},format=raw,if=virtio,readonly=on"),
        *("-serial", f"file:{console}"),
        *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
        *("-chardev", f"socket,id=port,path={port},server=on,wait=off"),
        *("-device", "virtserialport,chardev=port,name=agent"),
    )


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """Variables under which QEMU's clock is slow; files keep their times."""
    rate = f"+0 x{1 / SLOWED:g}"
    return {**own, "LD_PRELOAD": _CLOCK, "FAKETIME": rate, "NO_FAKE_STAT": "1", "LC_ALL": "C"}


@contextmanager
def booted(image: Image, handed: Path, place: Path) -> Iterator[Machine]:
    """A machine for as long as the `with` lasts; `place` is a directory for its console and port.

    Raises MachineError when it does not come up. It ends with this process, however that ends.
    """
    console, port = place / "console", place / "port"
    console.touch()
    with (place / "qemu").open("wb") as said:
        process = subprocess.Popen(
            argv(image, handed, console, port),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=environment(os.environ),
            preexec_fn=end_with_parent,
        )
    try:
        machine = Machine(process, place, _connected(process, port, place))
        try:
            machine.begin()
            yield machine
        finally:
            machine.end()
    finally:
        process.kill()
        process.wait()


def _connected(process: subprocess.Popen[bytes], port: Path, place: Path) -> socket.socket:
    """QEMU makes its socket before it does anything else."""
    ends = time.monotonic() + 60
    connection = socket.socket(socket.AF_UNIX)
    while True:
        try:
            connection.connect(str(port))
        except OSError:
            if process.poll() is not None or time.monotonic() > ends:
                connection.close()
                raise MachineError(f"QEMU does not start:{_end(place)}") from None
            time.sleep(0.05)
        else:
            return connection


@dataclass
class Machine:
    """One that runs."""

    process: subprocess.Popen[bytes]
    place: Path
    connection: socket.socket
    _rest: bytes = field(default=b"", init=False)

    def begin(self) -> None:
        """Wait until its agent is there."""
        ends = time.monotonic() + _BOOT
        while self._answer(ends).get("said") != READY:
            pass
        self.run("true", 1)  # an agent that was never asked does not notice that we have gone

    def run(self, script: str, minutes: float) -> Done:
        """Carry out a script of bash's as root; raises MachineError when there is no answer.

        The minutes are ours. A script that takes longer ends with exit code 124, as by timeout(1).
        """
        command = {"script": script, "seconds": minutes * 60 / SLOWED}
        self.connection.sendall(f"{json.dumps(command)}\n".encode())
        ends = time.monotonic() + minutes * 60 + _GRACE
        said: list[str] = []
        while "code" not in (told := self._answer(ends)):
            said.append(str(told["said"]))
        return Done(int(str(told["code"])), "".join(said))

    def end(self) -> None:
        """Take the agent's other end away, with which the machine ends."""
        self.connection.close()
        try:
            self.process.wait(_END)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _answer(self, ends: float) -> dict[str, object]:
        """The next line."""
        while b"\n" not in self._rest:
            left = ends - time.monotonic()
            if left <= 0 or not select.select([self.connection], [], [], left)[0]:
                raise MachineError(f"the machine does not answer:{_end(self.place)}")
            part = self.connection.recv(2**16)
            if not part:
                raise MachineError(f"the machine has ended:{_end(self.place)}")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, object] = json.loads(line)
        return answer


def _end(place: Path) -> str:
    """What QEMU and the console said last."""
    lines = [
        line
        for name in ("qemu", "console")
        for line in (place / name).read_text(errors="replace").splitlines()[-_LAST_LINES:]
    ]
    return "\n".join(["", *lines])
