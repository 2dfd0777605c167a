"""Members whose own address is known only when they have started."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.errors import StayError
from dunnage.model.late import unfilled
from dunnage.model.layout import Service


def wrapped(engine: str, service: Service, within: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command of a member that the engine starts: `argv`, once its address is filled in.

    `engine` is the binary as the member sees it, and `within` the network, as `10.0.1.0/24`, in
    which the member's address lies.
    """
    files = [word for path in service.files for word in ("--file", path)]
    return (engine, "start", "--member", service.member, "--within", within, *files, "--", *argv)


def insist_known(service: Service, late: Mapping[str, str]) -> None:
    """Raise StayError where a member needs an address that nobody knows yet, but for its own."""
    texts = (*service.files.values(), *service.argv)
    needed = frozenset[str]().union(*(unfilled(text) for text in texts))
    if missing := needed - {service.member, *late}:
        raise StayError(
            f"the address of `{min(missing)}` is not known before it starts",
            where=service.member,
            hint="dunnage schema study  # name another endpoint, such as host-port",
        )
