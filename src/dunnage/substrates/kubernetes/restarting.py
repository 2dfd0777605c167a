"""Programs that are killed are restarted, some times at most, and that is written down. Pure.

A lab's hosts have no init system that does it. A program that ends by itself is not restarted,
other than by an init system: whoever waits for it is told so at once, with its log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dunnage.model.record import Restart
from dunnage.substrates.kubernetes.place import Component

MOST = 5
"""Restarts of one program. Its sixth end is final."""
_KILLED = 128
"""What a shell adds to the number of the signal that ended a program."""
_SIGNALS = 64
_LINE = re.compile(r"^([\d.]+) (\d+) (\S+)\n", re.MULTILINE)

_RESTARTING = f"""
told=$1 left=$2
shift 2
while [ "$left" -gt 0 ]; do
    "$@"
    code=$?
    number=$((code - {_KILLED}))
    [ "$number" -gt 0 ] && [ "$number" -le {_SIGNALS} ] || exit "$code"
    echo "$(date +%s.%N) $number $0" >> "$told"
    echo "dunnage: it was ended by signal $number and is restarted" >&2
    left=$((left - 1))
    sleep 0.1
done
exec "$@"
"""
"""Klog's `Fatal` ends a program with code 255, which is no signal's."""


def restarting(component: Component, told: str) -> tuple[str, ...]:
    """The words that start a program and restart it; each restart becomes a line of a file."""
    script = ("sh", "-c", _RESTARTING, component.unit, told, str(MOST))
    return (*component.around, *script, *component.argv)


def restarts(text: str, host: str, ahead: float) -> Iterator[Restart]:
    """What that file tells of a host whose clock is `ahead` of ours by so many seconds.

    A line that is just being written, or for which the disk had no room, tells nothing.
    """
    for time, signal, program in _LINE.findall(text):
        yield Restart(host=host, program=program, signal=int(signal), time=float(time) - ahead)
