"""Commands beside a member that the host's own engine carries out instead of a program of it."""

from __future__ import annotations

from collections.abc import Sequence

from dunnage.contracts.host import Completed, Host
from dunnage.model.layout import ENGINE


def is_for_engine(argv: Sequence[str]) -> bool:
    """Whether a command is one for the host's engine."""
    return bool(argv) and argv[0] == ENGINE


def ask_engine(
    host: Host, argv: Sequence[str], *, stdin: str, timeout: float, within: Sequence[str] = ()
) -> Completed:
    """Let a host's engine carry out a command that begins with `ENGINE`.

    `within` is what enters the network of the member, where that is not the host's. The command
    runs in the host's unit for commands, natively as beside a container, so that it is never
    counted as the member's own work.
    """
    return host.run([*within, host.engine, *argv[1:]], stdin=stdin, timeout=timeout)
