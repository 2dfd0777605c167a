"""What an answer says of deployments and stays beside numbers."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.record import Restart
from dunnage.model.value import Value


class Restored(Value):
    """A snapshot of loaded data with which stays started."""

    made_in: str
    """The stay that loaded the records and kept the files. It has no runs."""
    stays: Mapping[str, int]
    """Deployment → number of its stays that started with the snapshot."""


class Restarted(Value):
    """A stay in which programs of a lab's Kubernetes were restarted."""

    stay: str
    block: int
    deployment: str
    restarts: tuple[Restart, ...]
    """From the start of the stay to the end of the last run that tells of them."""


class RulesLeft(Value):
    """A deployment whose packets pass rules made for substrates on which it does not stand."""

    deployment: str
    made_by: tuple[str, ...]
    """Families of the substrates that were frozen meanwhile."""
    least: int
    """Fewest rules in force on one of its hosts, whoever made them."""
    most: int


class NetworkChanged(Value):
    """A deployment whose network was not the same in all its stays."""

    deployment: str
    facts: tuple[str, ...]
    """Names of those that differ from the first stay's."""
    first: str
    """Its first stay."""
    stays: tuple[str, ...]
    """Those in which a fact differs."""
    of_stays: int
    """All its stays."""


class Moving(Value):
    """A deployment whose throughput moves by itself: more often than that of the others."""

    deployment: str
    moved: int
    """Blocks in which one of its runs or more moved by more than runs of their setting do. These
    runs count."""
    blocks: int
    """All blocks in which runs of it were judged."""
    elsewhere: int
    """Blocks in which it was so, of all deployments that do not move by themselves, added up."""
    others: int
    """All blocks of these, added up."""


class Managed(Value):
    """A deployment whose orchestrator's manager is busy by itself: more often than the others'."""

    deployment: str
    over: int
    """Blocks in which it used more of the clients' cores than a run may have, once or more. These
    runs count."""
    blocks: int
    """All blocks with a run of the deployment."""
    elsewhere: int
    """Blocks in which it was so, of all deployments of which it is not told, added up."""
    others: int
    """All blocks of these, added up."""
    most: float | None = None
    """The most that it used in a run, in processors."""
