"""A database in one file: what a catalogue needs to know of it stands beside its code."""

from __future__ import annotations

from dunnage.databases.fake import FakeDatabase
from dunnage.model.deployment import Guess
from dunnage.model.offer import DatabaseOffer


class Toy(FakeDatabase):
    """The fake's servers, under a name, a topology and a pace of their own."""

    offer = DatabaseOffer(
        versions=("1.0",),
        topologies=("single",),
        name="Toy",
        fake=True,
        check=lambda _: (),
        images=False,
        guess=Guess(up=100.0, settling=2.0, loading=10.0),
    )
