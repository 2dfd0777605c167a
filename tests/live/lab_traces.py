"""Everything a lab is known by on this machine, so that a test can insist that it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dunnage.hosts.clean import clean
from dunnage.hosts.lab import LABS, SCRATCH, Owner


@dataclass(frozen=True)
class Traces:
    """What one lab has while it lives. Its name is random, so nothing else goes by it."""

    lab: str

    def processes(self) -> list[str]:
        """Processes in its control groups, or whose arguments name it."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                said = (process / "cgroup").read_text() + (process / "cmdline").read_text()
            except OSError:
                continue
            if self.lab in said:
                found.append(said)
        return found

    def directories(self) -> list[Path]:
        """Its state, scratch and control group directories."""
        places = [LABS / self.lab, SCRATCH / self.lab]
        places += Path("/sys/fs/cgroup").glob(f"dunnage/{self.lab}")
        places += Path("/sys/fs/cgroup").glob(f"*/dunnage/{self.lab}")
        return [place for place in places if place.exists()]

    def mounts(self) -> list[str]:
        """Mounts of this machine that name it."""
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [line for line in lines if self.lab in line]

    def insist_dead(self) -> None:
        """Nothing of it lives, though directories may be left."""
        assert eventually(lambda: not self.processes()), self.processes()
        assert self.mounts() == []

    def insist_gone(self) -> None:
        """Nothing of it is left."""
        self.insist_dead()
        assert self.directories() == []


def eventually(true: Callable[[], bool], seconds: float = 10.0, every: float = 0.02) -> bool:
    """Whether something becomes true, looked at `every` so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def clean_away(lab: str) -> None:
    """Remove one lab whatever a test did to it; kept labs of others are not touched."""
    if (LABS / lab).exists():
        owner = Owner.read((LABS / lab / "owner.json").read_text())
        new = LABS / lab / "owner.json.test"
        new.write_text(Owner(owner.purpose, owner.owner, owner.first, keep=False).text())
        new.rename(LABS / lab / "owner.json")
    clean()
