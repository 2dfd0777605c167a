"""In what two deployments differ: what was declared, and what was found beside that."""

from __future__ import annotations

from enum import StrEnum

from dunnage.model.value import Value


class Factor(Value):
    """A key of two deployments that differs, as both have it; None where one has none."""

    key: str
    """Such as `network` or `limits.cpus`."""
    baseline: str | None
    deployment: str | None

    @property
    def name(self) -> str:
        """The key's first word: `limits.cpus` is of the factor `limits`."""
        return self.key.partition(".")[0]


class Cause(StrEnum):
    """Where a difference comes from."""

    FACTOR = "factor"
    """A factor under study brings it about."""
    INHERENT = "inherent"
    """It comes with the platform or the network under study and cannot be avoided."""
    UNDECLARED = "undeclared"
    """Nothing under study explains it: the two did not run the same thing."""
    UNKNOWN = "unknown"
    """It could not be read on one side or on both, so it may differ."""
    UNSEEN = "unseen"
    """A host does not see the process on one side or on both, so it may differ. Runs count."""


class Aspect(StrEnum):
    """What of a process or of a server differs."""

    MEMBER = "member"
    """A member that only one side has; the name is the member's."""
    EXECUTABLE = "executable"
    """By content; paths with hashes."""
    PLACE = "place"
    """The same executable is at another path."""
    MAPPED = "mapped"
    """A file mapped executable, by hash; the name is its path."""
    ARGUMENT = "argument"
    """The name is its place."""
    VARIABLE = "variable"
    """An environment variable."""
    CONFIGURATION = "configuration"
    """A line of a configuration file; the name is the file's."""
    LIMIT = "limit"
    DATA = "data"
    """An option of the data directory's file system."""
    KERNEL = "kernel"
    """A kernel setting."""
    RUNTIME = "runtime"
    """Facts from a Java virtual machine."""
    USER = "user"
    CLIENT = "client"
    """What the load generator is."""
    FACT = "fact"
    """Facts from a server."""
    UNREAD = "unread"
    """What could not be read; both sides are reasons, None where it could be."""
    NETWORK = "network"
    """What of a network nobody could read back; both sides say what and why, None where all was
    read."""
    WAY = "way"
    """What requests pass on their way to members beside devices and wires of hosts, as kinds of
    hops."""
    PROCESS = "process"
    """A process that was not inspected; both sides are reasons, None where it was."""


class Difference(Value):
    """One difference between two stays."""

    roles: tuple[str, ...]
    """Roles of the members that have it, `server` for what servers say; empty for a member."""
    aspect: Aspect
    name: str = ""
    baseline: str | None = None
    """What the baseline's side has; None where it has nothing."""
    deployment: str | None = None
    cause: Cause
    comes_with: str = ""
    """`image` or the factor, such as `platform` or `network`, that brings it along, if one does."""


class FoundDifference(Value):
    """A difference with the deployments between which it was found."""

    deployment: str
    baseline: str
    difference: Difference
