"""Bringing our engine to the other end of a channel, where there is nothing of ours yet."""

from __future__ import annotations

import shlex

from dunnage.hosts.channel.channel import Channel, ChannelError

_SECONDS = 120.0
"""For some megabytes over a slow line."""


def bring(channel: Channel, program: bytes, path: str) -> None:
    """Write a program to a path there, whole or not at all: who waits for it finds all of it.

    That takes a shell, `cat`, `chmod`, `mv` and `wc`. Raises ChannelError.
    """
    part = shlex.quote(f"{path}.part")
    script = (
        f"cat > {part} && [ $(wc -c < {part}) -eq {len(program)} ] && chmod 755 {part} && "
        f"mv {part} {shlex.quote(path)}"
    )
    done = channel.run(["sh", "-c", script], stdin=program, timeout=_SECONDS)
    if done.code != 0:
        told = done.stderr.strip() or f"exit code {done.code}"
        raise ChannelError(f"the engine cannot be brought there: {told}")
