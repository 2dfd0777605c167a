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
from enum import Enum
from pathlib import Path


class Kind(Enum):
    """What a study does to the numbers of others, and they to its own."""

    FAKE = "fake"
    """It measures nothing."""
    ALONE = "real"
    """It has locked this machine: others that would do so wait for it."""
    UNLOCKED = "unlocked"
    """It measures, and could not lock this machine."""


_SOCKETS = Path("/proc/net/unix")
_KINDS = "|".join(kind.value for kind in Kind)
_NAME = re.compile(rf"@dunnage/({_KINDS})/(\d+)/([A-Za-z0-9_.-]+)$", re.MULTILINE)


@contextmanager
def announced(study: str, kind: Kind) -> Iterator[None]:
    """Let the studies that start as long as the `with` lasts know of this one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mark:
        with contextlib.suppress(OSError):  # it is only a courtesy
            mark.bind(f"\0dunnage/{kind.value}/{os.getpid()}/{study}")
        yield


def disturbed(own: Kind) -> tuple[str, ...]:
    """What another study and this one may do to each other's numbers, a sentence for each.

    Nothing between fakes, which measure nothing, nor between those that have this machine alone,
    which wait for each other.
    """
    try:
        names = _NAME.findall(_SOCKETS.read_text(errors="replace"))
    except OSError:
        return ()
    others = {
        f"study `{study}` (process {process}) {does}"
        for kind, process, study in names
        if int(process) != os.getpid() and (does := _disturbing(own, Kind(kind)))
    }
    return tuple(sorted(others))


def _disturbing(own: Kind, other: Kind) -> str:
    """What the other study does; empty where neither disturbs the other."""
    if own is other and own is not Kind.UNLOCKED:
        return ""
    if own is Kind.FAKE:
        return "is being measured on this machine, and this study of fakes may disturb it"
    if other is Kind.FAKE:
        return "runs on this machine too: it is a study of fakes, and may disturb this measurement"
    return "is being measured on this machine too, and each may disturb the other"
