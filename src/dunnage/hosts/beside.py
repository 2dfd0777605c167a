"""Which studies run on this machine, whoever started them.

Each is announced by an abstract socket (unix(7)) as long as it runs: any user may make one, all see
it, and it goes with its process. Nobody connects to it.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SOCKETS = Path("/proc/net/unix")
_NAME = re.compile(r"@dunnage/(fake|real)/(\d+)/([A-Za-z0-9_.-]+)$", re.MULTILINE)


@contextmanager
def announced(study: str, *, fake: bool) -> Iterator[None]:
    """Let the studies that start as long as the `with` lasts know of this one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mark:
        with contextlib.suppress(OSError):  # it is only a courtesy
            mark.bind(f"\0dunnage/{'fake' if fake else 'real'}/{os.getpid()}/{study}")
        yield


def disturbed(*, fake: bool) -> tuple[str, ...]:
    """What another study and this one may do to each other's numbers, a sentence for each.

    Nothing between fakes, which measure nothing, nor between real studies, which wait for each
    other.
    """
    try:
        names = _NAME.findall(_SOCKETS.read_text(errors="replace"))
    except OSError:
        return ()
    others = {
        f"study `{study}` (process {process})"
        for kind, process, study in names
        if (kind == "fake") is not fake and int(process) != os.getpid()
    }
    if fake:
        does = "is being measured on this machine, and this study of fakes may disturb it"
    else:
        does = "runs on this machine too: it is a study of fakes, and may disturb this measurement"
    return tuple(f"{other} {does}" for other in sorted(others))
