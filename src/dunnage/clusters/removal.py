"""Deleting what is in a cluster, and waiting until it is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from lightkube import ApiError, Client

from dunnage.clusters.outage import Outage
from dunnage.deadline import Deadline
from dunnage.errors import DunnageError, UnavailableError
from dunnage.kubernetes_api import GONE, status_of

REMOVED = 120.0
"""Seconds within which what is deleted is gone."""
_INTERVAL = 0.1


def take_away(
    client: Client,
    kind: Any,
    names: Sequence[str],
    asking: Callable[[str], str],
    *,
    namespace: str | None = None,
    where: str = "kubernetes",
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Delete these objects, where they are there, and wait until they are gone.

    `asking` makes a `kubectl` command about the cluster, and `meanwhile` is done again and again as
    long as it waits. An API server that is away for a while is waited for. Raises UnavailableError
    where one stays, and `Refused`.
    """
    outage = Outage()

    def there(name: str) -> bool:
        meanwhile()
        return is_there(client, kind, name, namespace)

    for each in names:
        outage.asked(partial(delete, client, kind, each, namespace))
    word = kind.__name__.lower()
    inside = f" --namespace {namespace}" if namespace is not None else ""
    for each in names:
        await_gone(
            f"{word} `{each}`",
            partial(outage.asked, partial(there, each)),
            UnavailableError,
            where=where,
            hint=asking(f"describe {word} {each}{inside}"),
        )


def delete(
    client: Client, kind: Any, name: str, namespace: str | None = None, grace: int | None = None
) -> None:
    """Have an object deleted, if it is there: `grace` is for how many seconds a pod may go on.

    Raises `Refused`.
    """
    with unless_gone():
        client.delete(kind, name, namespace=namespace, grace_period=grace)


def is_there(client: Client, kind: Any, name: str, namespace: str | None = None) -> bool:
    """Whether an object is there; raises `Refused`."""
    with unless_gone():
        client.get(kind, name, namespace=namespace)
        return True
    return False


def await_gone(
    what: str,
    there: Callable[[], bool],
    error: type[DunnageError],
    *,
    where: str,
    hint: str,
) -> None:
    """Wait until what was deleted is not `there` any more; raises the error where it stays."""
    deadline = Deadline.after(REMOVED)
    while there():
        if deadline.passed:
            late = f"{what} is still there after {REMOVED:g} s"
            raise error(late, where=where, hint=hint)
        deadline.pause(_INTERVAL)


@contextmanager
def unless_gone() -> Iterator[None]:
    """Suppress that something is not there, and nothing else."""
    try:
        yield
    except ApiError as refusal:
        if status_of(refusal) != GONE:
            raise
