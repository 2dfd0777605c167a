"""What the kernel says of a member's process, read by the engine on the member's own host."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dunnage.contracts import Running
from dunnage.errors import StayError
from dunnage.model.layout import Place
from dunnage.model.record import ProcessFacts

_SECONDS = 60.0
"""Enough to hash a server of many files while other members are still busy."""


def inspect(member: Running, place: Place, files: Mapping[str, str]) -> ProcessFacts:
    """Inspect a running member. `files` is its configuration, as it was put there.

    Raises StayError with what the engine said.
    """
    argv = [member.host.engine, "inspect", "--pid", str(member.pid), "--data", place.data]
    completed = member.host.run(argv, timeout=_SECONDS, unit="inspect")
    if completed.code != 0:
        raise StayError(
            f"cannot inspect its process: {completed.stderr.strip()}", where=place.member
        )
    return ProcessFacts(
        member=member.member,
        role=place.role,
        files=dict(files),
        **json.loads(completed.stdout),
    )
