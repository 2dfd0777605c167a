"""A command on a host that must succeed."""

from __future__ import annotations

from dunnage.contracts.host import Host


def insisted(host: Host, *argv: str, stdin: str = "") -> str:
    """What it says on standard output."""
    done = host.run(argv, stdin=stdin)
    assert done.code == 0, f"{host.name}: {argv}: {done.stderr}"
    return done.stdout
