"""What the engine tells of a member's process, and of a host before a deployment is there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dunnage.contracts.host import Host
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.errors import StayError
from dunnage.model.layout import Place
from dunnage.model.process import ProcessFacts, UnseenProcess

_SECONDS = 60.0
"""Enough to hash a server of many files while other members are still busy."""


def control(client: Host) -> Mapping[str, float]:
    """Rates of arithmetic and of a loopback exchange on a client's host, in 1/s.

    They are a stay's negative control: no deployment can change them. Raises StayError with what
    the engine said.
    """
    completed = client.run([client.engine, "control"], timeout=30.0, unit="control")
    if completed.code != 0:
        raise StayError(
            f"the negative control failed: {completed.stderr.strip()}",
            where=client.name,
            hint="dunnage doctor",
        )
    return {name: float(rate) for name, rate in json.loads(completed.stdout).items()}


def inspect(
    member: RunningMember, place: Place, files: Iterable[str]
) -> ProcessFacts | UnseenProcess:
    """Inspect a running member. `files` are the paths of its configuration, as it was given them.

    They are read back below the process's own root. One that its host does not see is told with
    the reason. Raises StayError with what the engine said.
    """
    if isinstance(member.process, Unseen):
        return UnseenProcess(member=member.member, role=place.role, reason=member.process.reason)
    argv = [member.host.engine, "inspect", "--pid", str(member.process.pid), "--data", place.data]
    argv += ["--within", "/" + member.host.control_group("").strip("/")]
    argv += [word for path in files for word in ("--file", path)]
    completed = member.host.run(argv, timeout=_SECONDS, unit="inspect")
    if completed.code != 0:
        raise StayError(
            f"cannot inspect its process: {completed.stderr.strip()}",
            where=place.member,
            hint="dunnage doctor",
        )
    return ProcessFacts(member=member.member, role=place.role, **json.loads(completed.stdout))


def to_hold(member: RunningMember) -> Seen:
    """The process of a member that is to be held still. Raises StayError if its host sees none."""
    if isinstance(member.process, Unseen):
        raise StayError(
            f"it cannot be held still: {member.process.reason}; leave out `turns`, `slowdown` and "
            "`loss`",
            where=member.member,
        )
    return member.process
