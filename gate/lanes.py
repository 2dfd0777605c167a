"""Which tests are not run beside each other."""

from __future__ import annotations

STUDIES = "tests/live/studies/"
"""Where tests lie that carry out real studies by the real command."""
KUBERNETES = "kubernetes"
"""What files, or cases, are called whose tests have a Kubernetes, beside those of studies."""


def lane(nodeid: str) -> str:
    """What a test may not be beside another of; empty where it may.

    Real studies wait for each other anyway, because a machine measures one at a time. A Kubernetes
    of five hosts takes up to 50 instances of inotify, of which Linux gives a user 128: two of them
    have room, that of a study and one other.
    """
    if nodeid.startswith(STUDIES):
        return STUDIES
    return KUBERNETES if called_kubernetes(nodeid) else ""


def called_kubernetes(nodeid: str) -> bool:
    """Whether a test's file or case tells that it has a Kubernetes; others say so by their mark."""
    file, case = nodeid.partition("::")[0], nodeid.partition("[")[2]
    return KUBERNETES in file or KUBERNETES in case


def scope(nodeid: str) -> str:
    """What goes to one worker: a lane, or the tests of a module or class."""
    return lane(nodeid) or nodeid.rpartition("::")[0]
