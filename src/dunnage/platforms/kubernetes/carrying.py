"""Writing files into a member's pod before it starts, where its node has nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.deadline import Deadline
from dunnage.errors import StayError
from dunnage.model.layout import Place, Service
from dunnage.platforms.kubernetes.carried import CARRIER, DONE, PUT, marker
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import pod_name
from dunnage.platforms.kubernetes.starting import await_carrier

_SECONDS = 120.0
"""For a file of some megabytes."""


def carry(
    namespace: Namespace,
    service: Service,
    place: Place,
    programs: Mapping[str, bytes],
    deadline: Deadline,
) -> None:
    """Write programs, by their paths, and a member's own files; then it starts.

    Raises StayError where its pod does not come so far, or a file cannot be written there.
    """
    await_carrier(namespace, place.member, deadline)
    for path, program in programs.items():
        _run(namespace, place, PUT, path, "755", stdin=program)
    for path, content in service.files.items():
        _run(namespace, place, PUT, path, "644", stdin=content.encode())
    _run(namespace, place, DONE, marker(place))


def _run(namespace: Namespace, place: Place, script: str, *words: str, stdin: bytes = b"") -> None:
    done = namespace.execute(
        pod_name(place.member),
        CARRIER,
        ("sh", "-c", script, CARRIER, *words),
        stdin=stdin,
        timeout=_SECONDS,
        where=place.member,
    )
    if done.code != 0:
        raise StayError(
            f"`{words[0]}` cannot be written in its pod: {done.stderr.strip()}",
            where=place.member,
            hint=namespace.hint,
        )
