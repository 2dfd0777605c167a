"""Programs that end are restarted, some times in a row at most, and that is written down. Pure.

A lab's hosts have no init system that does it. A program that does not even come up is left ended:
whoever waits for it is told so at once, with its log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dunnage.model.record import Restart
from dunnage.substrates.kubernetes.place import Component

MOST = 8
"""Restarts of one program in a row of which none lasts. Its next end is final."""
LASTING = 30
"""Seconds after which a program lasts: it has come up, and its restarts are counted anew."""
_KILLED = 128
"""What a shell adds to the number of the signal that ended a program."""
_SIGNALS = 64
"""The highest number of a signal. Klog's `Fatal` ends a program with 255, which is no signal's."""
_LINE = re.compile(r"^(\d{10}\.\d{9}) (-?\d+) (\S+)\n", re.MULTILINE)
"""Two lines that run into each other, or one that was cut off, are no such line."""

_RESTARTING = f"""
told=$1 most=$2 lasting=$3
shift 3
left=$most tenths=1 up=
while :; do
    read -r began _ < /proc/uptime
    "$@"
    status=$?
    how=$status said="with exit code $status"
    read -r ended _ < /proc/uptime
    if [ "$status" -gt {_KILLED} ] && [ "$status" -le {_KILLED + _SIGNALS} ]; then
        how=$(({_KILLED} - status)) said="by signal $((status - {_KILLED}))" up=yes
    fi
    # Both have two decimals: without their points they are hundredths of a second.
    if [ $((${{ended%.*}}${{ended#*.}} - ${{began%.*}}${{began#*.}})) -ge "${{lasting}}00" ]; then
        left=$most tenths=1 up=yes
    fi
    [ "$up" ] && [ "$left" -gt 0 ] || exit "$status"
    echo "$(date +%s.%N) $how $0" >> "$told"
    echo "dunnage: it ended $said and is restarted" >&2
    sleep "$((tenths / 10)).$((tenths % 10))"
    left=$((left - 1)) tenths=$((tenths * 2))
done
"""
"""A program that was killed, or lasted, is restarted from then on however it ends: one that needs
another which is just being restarted ends by itself, again and again. Each pause is twice as long
as the one before, so that all of them together last longer than such a restart."""


def restarting(component: Component, told: str) -> tuple[str, ...]:
    """The words that start a program and restart it; each restart becomes a line of a file."""
    limits = (str(MOST), str(LASTING))
    script = ("sh", "-c", _RESTARTING, component.unit, told, *limits)
    return (*component.around, *script, *component.argv)


def restarts_of(text: str, host: str, ahead: float) -> Iterator[Restart]:
    """What that file tells of a host whose clock is `ahead` of ours by so many seconds.

    A line that is just being written, or for which the disk had no room, tells nothing.
    """
    for time, code, program in _LINE.findall(text):
        yield Restart(host=host, program=program, code=int(code), time=float(time) - ahead)
