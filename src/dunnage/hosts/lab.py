"""A lab's traces outside its namespaces, and who owns them.

`/run/dunnage/labs/<lab>` has `owner.json`, and `lock`, which the owner holds as long as it lives.
The directory is made first and removed last, so control groups and scratch directories without it
belong to no one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from dunnage.errors import UnavailableError, naming
from dunnage.hosts.first_process import Identity, identity
from dunnage.hosts.held_file import hold, let_go

STATE = Path("/run/dunnage")
LABS = STATE / "labs"
SCRATCH = Path("/var/lib/dunnage/labs")
SWITCH = "switch"
"""The first process of a lab that is no host's: it holds the network between the hosts."""
OWNER_VERSION = 1
"""1: first."""
_NAME = re.compile("[0-9a-f]{8}")


def become_root() -> str:
    """The command that gives a shell of root's, on this machine."""
    return "sudo -s" if shutil.which("sudo") else "su -"


def is_lab(name: str) -> bool:
    """Whether a lab may have this name. Whatever goes by another one is not ours to remove."""
    return _NAME.fullmatch(name) is not None


def machine_id_file(lab: Path, host: str) -> Path:
    """What a host of a lab sees as `/etc/machine-id`; `lab` is where the lab's state lies."""
    return lab / f"machine-id-{host}"


def is_roots(directory: Path) -> bool:
    """Whether it is a directory of root's, and not another user's or a link to one."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == 0


@dataclass(frozen=True)
class Owner:
    """Who made a lab, what for, and the first processes of its hosts and its switch."""

    purpose: str
    owner: Identity
    first: Mapping[str, Identity]
    keep: bool = False

    def text(self) -> str:
        """As `owner.json` has it."""
        return json.dumps({"version": OWNER_VERSION, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def read(cls, text: str) -> Owner:
        """Read `owner.json`; raises ValueError or KeyError when it is not one."""
        owner = json.loads(text)
        first = {name: Identity(**identity) for name, identity in owner["first"].items()}
        return cls(owner["purpose"], Identity(**owner["owner"]), first, owner["keep"])


@contextlib.contextmanager
def registry() -> Iterator[None]:
    """Hold the list of labs: for the moment in which one is made or removed."""
    lock = STATE / "labs.lock"
    try:
        file = hold(lock)
    except PermissionError:
        raise UnavailableError(
            "only root can create hosts on this machine", hint=become_root()
        ) from None
    try:
        LABS.mkdir(mode=0o755, exist_ok=True)
        yield
    finally:
        with contextlib.suppress(OSError):
            LABS.rmdir()  # if no lab is left
        let_go(lock, file)


def _make_scratch() -> None:
    for directory in (SCRATCH.parent, SCRATCH):
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o755)
    if not is_roots(SCRATCH):
        raise UnavailableError(
            f"`{SCRATCH}` is not a directory that root owns", hint=f"ls -ld {SCRATCH}"
        )


class Lab:
    """The traces of one lab that this process owns."""

    def __init__(self, name: str, purpose: str, lock: int) -> None:
        self.name = name
        self.directory = LABS / name
        """Where its state lies."""
        self.hosts_file = self.directory / "hosts"
        """What its hosts see as `/etc/hosts`."""
        self.scratch = SCRATCH / name
        """Where its hosts' directories on a disk lie."""
        self.group = f"/dunnage/{name}"
        """Control group above its hosts'."""
        self._purpose = purpose
        self._lock = lock

    @classmethod
    def make(cls, purpose: str) -> Lab:
        """Make a lab under a name of its own, held by this process. The registry must be held.

        Raises UnavailableError when its disk's place belongs to someone else.
        """
        _make_scratch()
        name = secrets.token_hex(4)
        directory = LABS / name
        directory.mkdir(mode=0o700)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        lab = cls(name, purpose, lock)
        lab.write_owner({}, keep=False)
        lab.scratch.mkdir()
        return lab

    def write_owner(self, first: Mapping[str, Identity], *, keep: bool) -> None:
        """Put down which first processes belong to it."""
        me = identity(os.getpid())
        new = self.directory / "owner.json.new"
        with naming(new):
            new.write_text(Owner(self._purpose, me, first, keep).text())
        new.rename(self.directory / "owner.json")

    def machine_id(self, host: str) -> Path:
        """What a host sees as `/etc/machine-id` (machine-id(5)): new for each, and the same when it
        was started anew."""
        file = machine_id_file(self.directory, host)
        if not file.exists():
            with naming(file):
                file.write_text(f"{uuid.uuid4().hex}\n")
        return file

    def let_go(self) -> None:
        """Leave it without an owner."""
        os.close(self._lock)

    def forget(self) -> None:
        """Remove its state. The registry must be held."""
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._lock)
