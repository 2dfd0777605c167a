"""A program inside a host: thin acting around `dunnage-engine enter`."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dunnage.contracts.host import Completed
from dunnage.errors import HostLostError, RunError
from dunnage.hosts.first_process import FirstProcess
from dunnage.units import duration

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT: Mapping[str, str] = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"}
"""What every program starts with, so that ours does not leak into what is measured."""
_WAITS, _WAIT = 120, 0.5
"""How many times, and for how many seconds, a program's start is waited for without a word.

Only a frozen unit takes so long. They are many short ones because a machine that stood still itself
ends no more than one of them: its clock goes on without it.
"""


def open_files() -> int:
    """Most open files of every process, soft and hard: 20,000, or what this machine allows."""
    return min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


@dataclass(frozen=True)
class Door:
    """The way into one incarnation of a host."""

    engine: Path
    host: str
    first: FirstProcess

    def lost(self) -> HostLostError:
        """The error to raise when the host is gone."""
        return HostLostError("the host no longer answers", where=self.host)

    def insist_alive(self) -> None:
        """Raise HostLostError when the host is gone."""
        if not self.first.alive():
            raise self.lost()

    def enter(
        self,
        argv: Sequence[str],
        join: Sequence[Path],
        *,
        env: Mapping[str, str] | None = None,
        log: str | None = None,
        descriptors: Sequence[int] = (),
    ) -> NamespaceProcess:
        """Start a program; with a log it has no input, without its three streams are pipes.

        It also gets these of our open descriptors, under the same numbers.

        Raises HostLostError, and RunError when it could not even be tried.
        """
        self.insist_alive()
        ours, theirs = os.pipe()
        try:
            words = ["enter", "--host", str(self.first.pid), "--report", str(theirs)]
            words += ["--files", str(open_files())]
            words += [word for file in join for word in ("--join", str(file))]
            words += [] if log is None else ["--log", log]
            outside = subprocess.Popen(
                [str(self.engine), *words, "--", *argv],
                stdin=subprocess.PIPE if log is None else subprocess.DEVNULL,
                stdout=subprocess.PIPE if log is None else subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**ENVIRONMENT, **(env or {})},
                pass_fds=(theirs, *descriptors),
                start_new_session=True,
            )
            os.close(theirs)
            theirs = -1
            return self._entered(outside, _report(ours), keep_streams=log is None)
        finally:
            os.close(ours)
            if theirs >= 0:
                os.close(theirs)

    def complete(
        self, argv: Sequence[str], join: Sequence[Path], *, stdin: str = "", timeout: float
    ) -> Completed:
        """Run a program to its end.

        Raises HostLostError, and RunError when `timeout` seconds are over (it is killed then).
        """
        process = self.enter(argv, join)
        try:
            out, err = process.outside.communicate(stdin.encode(), timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            self.insist_alive()
            raise RunError(
                f"`{shlex.join(argv)}` did not end within {duration(timeout)}", where=self.host
            ) from None
        except BaseException:
            process.kill()
            raise
        code = process.wait(0)
        return Completed(code, out.decode(errors="replace"), err.decode(errors="replace"))

    def _entered(
        self, outside: subprocess.Popen[bytes], report: Mapping[str, int], *, keep_streams: bool
    ) -> NamespaceProcess:
        if "inner" not in report:
            if "outer" in report:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(report["outer"], signal.SIGKILL)
            outside.kill()
            _, complaint = outside.communicate()
            self.insist_alive()
            reason = complaint.decode(errors="replace").strip() or "its unit may be frozen"
            raise RunError(f"a program cannot be started: {reason}", where=self.host)
        if not keep_streams and outside.stderr is not None:
            outside.stderr.close()
        return NamespaceProcess(self, outside, outer=report["outer"], pid=report["inner"])


@dataclass(frozen=True)
class NamespaceProcess:
    """A process that was started in one incarnation of a host, and dies with it."""

    door: Door
    outside: subprocess.Popen[bytes]
    """Its parent, which ends as it does."""
    outer: int
    """Its process id as this machine sees it."""
    pid: int

    def poll(self) -> int | None:
        return self._judged(self.outside.poll())

    def wait(self, timeout: float) -> int:
        try:
            code = self._judged(self.outside.wait(timeout))
        except subprocess.TimeoutExpired:
            code = self._judged(None)
        if code is None:
            raise TimeoutError(f"process {self.pid} still runs after {timeout:g} s")
        return code

    def signal(self, name: str) -> None:
        if self.outside.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.outer, signal.Signals[f"SIG{name}"])

    def kill(self) -> None:
        """Kill it and its process group, and wait for the end."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.outer, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.outside.communicate(timeout=1.0)
        self.outside.kill()
        self.outside.wait()

    def _judged(self, code: int | None) -> int | None:
        """A power cut kills all processes, so only such an end is put down to the host."""
        if code in (None, -signal.SIGKILL):
            self.door.insist_alive()
        return code


def _report(descriptor: int) -> Mapping[str, int]:
    """Read the two process ids; the report ends when the program runs or has failed to."""
    text = b""
    waits = 0
    while waits < _WAITS:
        if not select.select([descriptor], [], [], _WAIT)[0]:
            waits += 1
            continue
        part = os.read(descriptor, 200)
        if not part:
            break
        text += part
    lines = [line.split() for line in text.decode().splitlines()]
    return {words[0]: int(words[1]) for words in lines}
