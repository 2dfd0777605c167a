"""A stay's claim to the namespace of its name: whether what is there is surely the stay's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import httpx2
from lightkube import ApiError, Client, codecs
from lightkube.resources.core_v1 import Namespace

from dunnage.clusters.outage import Outage, is_away
from dunnage.clusters.removal import unless_gone
from dunnage.errors import StayError, UnavailableError
from dunnage.kubernetes_api import TAKEN, status_of
from dunnage.platforms.kubernetes.objects import namespace
from dunnage.platforms.kubernetes.spoken import spoken
from dunnage.platforms.stay_names import StayNames

_WHERE = "kubernetes"

T = TypeVar("T")


class Claim:
    """Whether the namespace is the stay's: the cluster has said that it made it for the stay, or it
    bears the stay's label."""

    def __init__(
        self,
        client: Client,
        stay: StayNames,
        asking: Callable[[str], str],
        labels: Mapping[str, str],
        outage: Outage,
    ) -> None:
        """`asking` makes a `kubectl` command about the cluster, `labels` are those of the namespace
        besides its own, and `outage` is that of the stay's cluster."""
        self._client = client
        self._stay = stay
        self._asking = asking
        self._labels = labels
        self._outage = outage
        self._granted = False
        """It is surely the stay's."""
        self._pending = False
        """It was asked for, and nobody has said that it was not made."""

    def make(self) -> None:
        """Create the namespace, once. Raises UnavailableError when another one has its name.

        Where an answer is lost, or not waited for, `holds` asks whose it is.
        """
        if self._granted:
            return
        self._pending = True
        try:
            self._asked(self._create, "the stay's namespace cannot be created")
        except StayError as error:
            self._pending = not _is_definite(error.__cause__)
            if status_of(error.__cause__) != TAKEN:
                raise
            raise UnavailableError(
                f"there is a namespace `{self._stay.network}` that is not of this stay",
                where=_WHERE,
                hint=self._asking(f"get namespace {self._stay.network} --show-labels"),
            ) from error
        self._granted = True

    def holds(self) -> bool:
        """Whether it is surely the stay's, so that what is in it may be deleted.

        The cluster is asked where no answer came; raises StayError where it does not tell.
        """
        if self._pending and not self._granted:
            what = "it is not known whether the namespace is the stay's"
            self._granted = self._asked(self._bears_label, what)
        return self._granted

    def end(self) -> None:
        """There is nothing of that name any more that is the stay's."""
        self._granted = self._pending = False

    def _create(self) -> None:
        """Create it, unless that was done by a call whose answer was lost."""
        try:
            self._client.create(codecs.from_dict(namespace(self._stay, self._labels)))
        except ApiError as refusal:
            if status_of(refusal) != TAKEN or not self._bears_label():
                raise

    def _bears_label(self) -> bool:
        """Whether the one that is there has the label of the stay, which no other stay has."""
        with unless_gone():
            there = self._client.get(Namespace, self._stay.network)
            labels = (there.metadata and there.metadata.labels) or {}
            return self._stay.labels.items() <= labels.items()
        return False

    def _asked(self, ask: Callable[[], T], what: str) -> T:
        with spoken(what, _WHERE, self._asking("describe nodes")):
            return self._outage.asked(ask)


def _is_definite(refusal: BaseException | None) -> bool:
    """Whether an API server has said that it did not do what it was asked for."""
    return isinstance(refusal, httpx2.HTTPStatusError) and not is_away(refusal)
