"""Class-data archives (AppCDS, JEP 350): classes as Java has them once loaded, to start sooner.

Java accepts an archive only for jars at the paths that it was made with, so the server runs once at
the tree's own prefix: in a mount namespace and with a loopback that nothing else has.
"""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from dunnage.errors import UnavailableError
from dunnage.software.recipe import JavaProgram

_SECONDS = 600
# `/run` is hidden, so that the prefix can be made without leaving a trace on this machine.
_AT_PREFIX = (
    'ip link set lo up && mount -t tmpfs tmpfs /run && mkdir -p "$2" && mount --bind "$1" "$2" '
    '&& shift 2 && exec "$@"'
)


@dataclass(frozen=True)
class TreeAtPrefix:
    """A tree that is shown at its prefix for a program to run there; `scratch` is for what that
    program writes."""

    tree: Path
    prefix: str
    scratch: Path

    def dump(self, program: JavaProgram, agents: Sequence[str]) -> None:
        """Run a program once, note the classes that it loads, and archive them in the tree.

        `agents` are options that name Java agents: the program runs with them, but Java makes no
        archive with them. Raises UnavailableError with the program's last words when it does not
        come so far, and when it maps programs or libraries from outside the tree.
        """
        for name, text in program.files.items():
            (self.scratch / name).write_text(self._filled(text))
        arguments = f"@{self.prefix}/lib/{program.name}.args"
        classes = self.scratch / f"{program.name}.classes"
        rehearsal = map(self._filled, program.rehearsal)
        self._java(
            f"-XX:DumpLoadedClassList={classes}",
            *agents,
            arguments,
            *rehearsal,
            ready=program.ready,
        )
        self._java(
            "-Xshare:dump",
            f"-XX:SharedClassListFile={classes}",
            f"-XX:SharedArchiveFile={self.prefix}/lib/{program.archive}",
            "-Xmx512M",
            "-Xlog:cds=off",  # it tells of each class that no archive can hold
            arguments,
        )

    def _filled(self, text: str) -> str:
        return text.replace("{scratch}", str(self.scratch))

    def _java(self, *options: str, ready: str | None = None) -> None:
        mapped_as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        enter = ["unshare", *mapped_as_root, "--mount", "--net", "sh", "-c", _AT_PREFIX, "sh"]
        process = subprocess.Popen(
            [*enter, str(self.tree), self.prefix, f"{self.prefix}/bin/java", *options],
            cwd=self.scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Options that Java takes from the environment would end up in the archive.
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        limit = Timer(_SECONDS, process.kill)
        limit.start()
        last_lines: deque[str] = deque(maxlen=10)
        came = ready is None
        try:
            for line in process.stdout or ():
                last_lines.append(line)
                if ready is not None and ready in line:
                    came = True
                    _insist_inside(process.pid, self.prefix)
                    process.terminate()
            code = process.wait()
        finally:
            limit.cancel()
            process.kill()
            process.wait()
        if not came or (ready is None and code != 0):
            raise UnavailableError(
                f"it ended with code {code} while it loaded its classes: {''.join(last_lines)}",
                where=self.prefix,
                hint="unshare --mount --net true",
            )


def _insist_inside(pid: int, prefix: str) -> None:
    """Refuse a tree whose programs map executable files from outside it."""
    lines = [line.split(maxsplit=5) for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    mapped = {line[5] for line in lines if len(line) == 6 and "x" in line[1]}
    files = (path for path in mapped if path.startswith("/"))
    outside = sorted(path for path in files if not path.startswith(f"{prefix}/"))
    if outside:
        raise UnavailableError(
            f"it maps files from outside its tree: {', '.join(outside)}",
            where=prefix,
            hint="dunnage doctor",
        )
