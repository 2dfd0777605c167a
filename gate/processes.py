"""Processes that a stage starts: none outlives it, whatever becomes of their parents."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
"""See prctl(2): who has lost its parent becomes a child of this process, and not of the first."""
GRACE = 5.0
"""Seconds in which what was left running may still end by itself."""


_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextlib.contextmanager
def hog() -> Iterator[None]:
    """Another process meanwhile takes all the processor time that it can get."""
    busy = subprocess.Popen([sys.executable, "-c", _BUSY])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def adopt_orphans() -> None:
    """From now on every process that is started below this one can be found below it."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Let this process be interrupted when the one that started it ends, however that ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)


def below() -> dict[int, str]:
    """Process id → command line of all that live below this process."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(entry.name)] = int(parent)
    found: dict[int, str] = {}
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and process != above:
            found[process] = _command(process)
    return found


def end_all() -> list[str]:
    """Kill all that still lives below this process after a moment; returns its command lines."""
    deadline = time.monotonic() + GRACE
    while below() and time.monotonic() < deadline:
        reap()
        time.sleep(0.05)
    left = list(below().values())
    deadline = time.monotonic() + GRACE
    while (living := below()) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it is somebody else's
                os.kill(process, signal.SIGKILL)
        reap()
        time.sleep(0.05)
    reap()  # whoever died since the last look
    return left


def reap(but: int | None = None) -> None:
    """Take note of orphans that have ended, so that nothing of them stays; `but` is waited for."""
    with contextlib.suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == but:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


def _command(process: int) -> str:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except (OSError, UnicodeDecodeError):
        words = ""
    return f"{process} {words}".strip()
