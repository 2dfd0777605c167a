"""Facts of one member's process."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Value


class ProcessFacts(Value):
    """Facts of one member's running process from the kernel. Parity compares them.

    Secrets are masked before writing, so a difference in a secret alone is not seen.
    """

    member: str
    role: str
    executable: str
    executable_sha256: str
    mapped: Mapping[str, str]
    """Every file mapped executable, with its SHA-256. For a Java virtual machine also class-data
    archives in use, its own classes, jars and files of arguments."""
    argv: tuple[str, ...]
    files: Mapping[str, str]
    """The member's configuration files, as the process sees them."""
    limits: Mapping[str, str]
    """Effective resource limits, cgroup limits, weights and CPU set."""
    data: Mapping[str, str]
    """File system and mount options of the data directory."""
    kernel: Mapping[str, str]
    """Kernel release and the system settings that affect a database."""
    user: str
    environment: Mapping[str, str] = {}
    """Environment variables at its start."""
    runtime: Mapping[str, str] = {}
    """Facts from a Java virtual machine: active flags, heap, collector, processors."""
    absent: Mapping[str, str] = {}
    """What could not be read, with the reason: `virtual machine`, `environment`, or the path of a
    file. An unknown fact is never equal to another."""


class UnseenProcess(Value):
    """A member whose process was not inspected, because its host does not see it."""

    member: str
    role: str
    reason: str
