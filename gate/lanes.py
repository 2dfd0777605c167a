"""Which tests are not run beside each other."""

from __future__ import annotations

from collections.abc import Collection

STUDIES = "tests/live/studies/"
"""Where tests lie that carry out real studies by the real command."""
KUBERNETES = "kubernetes"
"""The mark of tests that have a Kubernetes, and what files or cases are called that get it."""


def lane(nodeid: str, marks: Collection[str]) -> str:
    """What a test with these marks may not be beside another of; empty where it may.

    Real studies wait for each other anyway, because a machine measures one at a time. A Kubernetes
    of five hosts takes up to 50 instances of inotify, of which Linux gives a user 128: two of them
    have room, that of a study and one other.
    """
    if nodeid.startswith(STUDIES):
        return STUDIES
    return KUBERNETES if KUBERNETES in marks else ""


def called_kubernetes(nodeid: str) -> bool:
    """Whether a test's file or case tells that it has a Kubernetes; others say so by their mark."""
    file, case = nodeid.partition("::")[0], nodeid.partition("[")[2]
    return KUBERNETES in file or KUBERNETES in case


def scope(nodeid: str, lane: str) -> str:
    """What goes to one worker: a lane, or the tests of a module or class."""
    return lane or nodeid.rpartition("::")[0]
