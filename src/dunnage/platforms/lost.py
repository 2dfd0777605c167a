"""Whether a host is lost, which decides what can still be ended there."""

from __future__ import annotations

from dunnage.contracts.host import Host
from dunnage.errors import HostLostError, RunError

_ANY_FILE = "/proc/uptime"
"""Every host has it."""


def is_lost(host: Host) -> bool:
    """Whether a host answers no more.

    It is asked for a file, which may be asked for twice: where the way there breaks meanwhile, the
    answer is that of the next way, or that there is none.
    """
    try:
        host.get(_ANY_FILE)
    except HostLostError:
        return True
    except (FileNotFoundError, RunError):  # an answer too
        return False
    return False
