"""One action on many hosts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from dunnage.contracts.host import Host
from dunnage.errors import DunnageError


def side_by_side(hosts: Sequence[Host], action: Callable[[Host], object]) -> None:
    """Do it on all of them at once; when all have ended, raise the first error if there was one."""
    with ThreadPoolExecutor(max_workers=max(len(hosts), 1)) as pool:
        outcomes = [pool.submit(action, host) for host in hosts]
    errors = [error for each in outcomes if (error := each.exception()) is not None]
    for error in sorted(errors, key=lambda each: not isinstance(each, DunnageError)):
        raise error
