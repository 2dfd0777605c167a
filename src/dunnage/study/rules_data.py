"""What must hold where stays start with a copy of the data: it must serve all of them alike."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.choices import Data, Phase
from dunnage.model.offer import PlatformOffer
from dunnage.model.study import INSERTING, DeploymentSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding

LOADING = "write `data: load`"


def data_rules(draft: Draft) -> Iterator[Finding]:
    """Yield every workload that does not leave its stay with the data that it started with."""
    if draft.data is not Data.RESTORE:
        return
    for index, workload in draft.workloads.items():
        name = shown(workload.name)
        own = workload.records
        if workload.phase is Phase.LOAD:
            yield Finding(
                ("workloads", index),
                f"{name} measures loading, and `data: restore` loads no records",
                f"{LOADING}, or make two studies",
            )
        elif workload.core in INSERTING:
            yield Finding(
                ("workloads", index),
                f"{name} inserts records, so the next run needs the data restored, and that is "
                "possible only before members start",
                f"{LOADING}, or use A, B, C or F here",
            )
        elif own is not None and own != draft.records and not draft.touched("records"):
            yield Finding(
                ("workloads", index, "records"),
                f"{name} needs {own} records, and stays start with {draft.records}: data can be "
                "restored only before members start",
                f"{LOADING}, or make two studies",
            )


def storage_rules(
    spec: DeploymentSpec, platform: PlatformOffer, data: Data, place: Path
) -> Iterator[Finding]:
    """Yield storage that cannot be filled before a member starts."""
    if data is not Data.RESTORE or spec.storage not in platform.storages:
        return
    if spec.storage not in platform.restorable:
        instead = [f"`storage: {storage.value}`" for storage in platform.restorable]
        yield Finding(
            place,
            f"data cannot be restored on storage {shown(spec.storage.value)} of platform "
            f"{shown(spec.platform)}: it cannot be filled before a member starts",
            " or ".join((LOADING, *instead)),
        )
