"""Snapshots that hosts keep, and which database and platform can keep one and start with it."""

from __future__ import annotations

from dataclasses import dataclass

from dunnage.contracts.database import Database, HasSnapshot
from dunnage.contracts.platform import KeepsData, Platform
from dunnage.errors import UnavailableError
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Snapshot


@dataclass(frozen=True)
class KeptSnapshot:
    """Its name on the hosts, and the stay that made it."""

    name: str
    stay: str


def snapshot_of(database: Database, deployment: Deployment, reservation: Reservation) -> Snapshot:
    """The files that hold a deployment's records.

    Raises UnavailableError where the database tells none, which the check of a study has told.
    """
    if not isinstance(database, HasSnapshot):
        raise _cannot(f"database `{deployment.database.kind}`", deployment)
    return database.snapshot(deployment.database, reservation)


def keeping(platform: Platform, deployment: Deployment) -> KeepsData:
    """The platform as one that keeps data; raises UnavailableError as `snapshot_of` does."""
    if not isinstance(platform, KeepsData):
        raise _cannot(f"platform `{deployment.platform}`", deployment)
    return platform


def _cannot(what: str, deployment: Deployment) -> UnavailableError:
    return UnavailableError(
        f"{what} cannot start with a copy of data; write `data: load`",
        where=deployment.name,
        hint="dunnage plan STUDY",
    )
