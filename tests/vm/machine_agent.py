"""In the machine: carries out commands that come in by a port, one after the other.

A command is a line of JSON, `{"script": …, "seconds": …}`. The answer is as many lines as it
takes, `{"said": …}`, and `{"code": …}` as the last. The end of the agent is the end of the machine.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PORT = "/dev/virtio-ports/agent"
READY = "ready"
"""What it says first, as a line of its own."""
TOO_LONG = 124
"""Exit code of a command that took longer than it may, as of timeout(1)."""
ENVIRONMENT = {
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
"""As root has it who logs in."""
_INTERVAL = 0.2

Tell = Callable[..., None]


def carry_out(script: str, seconds: float, tell: Tell) -> None:
    """Run a script of bash's to its end, and tell what it says and how it ends."""
    process = subprocess.Popen(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd="/",
        env=ENVIRONMENT,
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        assert process.stdout is not None
        text = codecs.getincrementaldecoder("utf-8")("replace")
        while part := os.read(process.stdout.fileno(), 2**16):
            tell(said=text.decode(part))
        code = process.wait()
    finally:
        timer.cancel()
    tell(code=TOO_LONG if late.is_set() else code)


def serve(read: Callable[[], bytes], tell: Tell) -> None:
    """Carry out what is read, until nobody is at the other end any more."""
    tell(said=READY)
    for line in _lines(read):
        command = json.loads(line)
        carry_out(command["script"], command["seconds"], tell)


def _lines(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Whole lines. Before the first, nothing that is read may mean that nobody is there yet."""
    rest, begun = b"", False
    while (part := read()) or not begun:
        if not part:
            time.sleep(_INTERVAL)
            continue
        begun = True
        *whole, rest = (rest + part).split(b"\n")
        yield from whole


def main() -> None:
    while not Path(PORT).exists():  # udev makes it
        time.sleep(_INTERVAL)
    port = os.open(PORT, os.O_RDWR)

    def tell(**told: object) -> None:
        left = memoryview(f"{json.dumps(told)}\n".encode())
        while left:
            left = left[os.write(port, left) :]

    serve(lambda: os.read(port, 2**16), tell)


if __name__ == "__main__":
    main()
