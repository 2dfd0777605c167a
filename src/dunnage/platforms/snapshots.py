"""Copies of members' data on the disks of their hosts, for other stays to start with."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from dunnage.contracts.host import Host
from dunnage.errors import StayError

_LONGEST = 3600.0
"""Seconds that copying one file or directory may take at most."""


@dataclass(frozen=True)
class MemberFiles:
    """Files of one member, each a path below the directory where its host has its data."""

    member: str
    host: Host
    data: str
    files: tuple[str, ...]

    def keep(self, snapshot: str) -> None:
        """Copy them to the host's disk, in place of what has that name already.

        Raises StayError naming the member and what could not be copied.
        """
        copies = self._copies(snapshot)
        self.host.remove(copies)
        self._copy(self.data, copies)

    def restore(self, snapshot: str) -> None:
        """Put copies of what was kept below the member's data; raises StayError as `keep` does."""
        self._copy(self._copies(snapshot), self.data)

    def _copies(self, snapshot: str) -> str:
        return f"{self.host.scratch}/kept/{snapshot}/{self.member}"

    def _copy(self, source: str, target: str) -> None:
        for file in self.files:
            self._must("mkdir", "-p", f"{target}/{file}".rpartition("/")[0])
            copying = ("cp", "--archive", "--no-target-directory")
            self._must(*copying, f"{source}/{file}", f"{target}/{file}")
        # Otherwise the kernel would write the copies to the disk while runs are measured.
        self._must("sync", "--file-system", target)

    def _must(self, *argv: str) -> None:
        done = self.host.run(argv, timeout=_LONGEST)
        if done.code != 0:
            raise StayError(
                f"`{shlex.join(argv)}` failed on {self.host.name}: {done.stderr.strip()}",
                where=self.member,
                hint=shlex.join(["df", self.host.scratch]),
            )
