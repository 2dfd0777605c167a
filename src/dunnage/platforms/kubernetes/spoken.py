"""What an API server refuses, as the errors of a stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dunnage.errors import StayError
from dunnage.kubernetes_api import Refused, explanation


@contextmanager
def spoken(what: str, where: str, hint: str) -> Iterator[None]:
    """Say the API's refusal as the stay's error; `where` is a member or a host."""
    try:
        yield
    except Refused as refusal:
        raise StayError(f"{what}: {explanation(refusal)}", where=where, hint=hint) from refusal
