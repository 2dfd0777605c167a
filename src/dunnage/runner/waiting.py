"""Wait for a generator: by its time where it has one, by its progress where it ends by itself."""

from __future__ import annotations

from dunnage.contracts.host import Host, Process
from dunnage.errors import RunError
from dunnage.model.load import Command
from dunnage.runner.room import failed_there
from dunnage.runner.stay import Stay
from dunnage.units import duration

LOG = "generator.log"
"""What a generator writes while it runs, in its directory."""
POLL = 1.0
"""Seconds between two looks at a clock."""
LOOK = 5.0
"""Seconds between two looks at what a generator has done."""

Part = tuple[Host, Command, Process]
"""A generator that was started."""


def wait(stay: Stay, part: Part, limit: float) -> None:
    """Wait for a generator with a set time; raises RunError when it fails or does not end within
    `limit` seconds.

    Nothing else is asked meanwhile: that would use the very processors that are measured.
    """
    host, _, _ = part
    clock = stay.equipment.testbed.clock
    ends = clock.now() + limit
    while not _ended(stay, part, POLL):
        if clock.now() >= ends:
            raise RunError(f"the generator did not end within {limit:.0f} s", where=host.name)


def wait_while_it_goes_on(stay: Stay, part: Part, patience: float) -> None:
    """Wait for a generator that ends by itself, however long it takes, while it makes progress.

    Raises RunError when it fails, or when no operation was answered for `patience` seconds: it
    hangs, or the database does. StayError when a member has died: it might wait for that forever.
    """
    host, command, _ = part
    clock = stay.equipment.testbed.clock
    answered, since = 0, clock.now()
    while not _ended(stay, part, LOOK):
        stay.platform.running()
        now, found = clock.now(), stay.equipment.generator.progress(_log(host, command))
        if found > answered:
            answered, since = found, now
        elif now - since >= patience:
            raise RunError(
                f"no operation was answered for {duration(patience)}, after {answered:,} that "
                "were: the generator or the database hangs; if one operation may take so long "
                "here, write a longer `timeout` under `load`",
                where=host.name,
            )


def _ended(stay: Stay, part: Part, seconds: float) -> bool:
    """Whether a generator ends within so many seconds; raises RunError when it fails."""
    host, command, process = part
    try:
        code = process.wait(seconds)
    except TimeoutError:
        return False
    if code != 0:
        stay.platform.running()
        log = _log(host, command).decode(errors="replace").strip()
        what = f"the generator ended with code {code}: {log[-400:] or 'it wrote nothing'}"
        raise failed_there(host, command.directory, what)
    return True


def _log(host: Host, command: Command) -> bytes:
    """What it wrote; nothing where there is no such file."""
    try:
        return host.get(f"{command.directory}/{LOG}")
    except FileNotFoundError:
        return b""
