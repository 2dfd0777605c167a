"""Make a snapshot: put the records in once, and have the hosts keep the files that hold them."""

from __future__ import annotations

from dunnage.model.deployment import Workload
from dunnage.runner.fill import load, settle
from dunnage.runner.formation import take
from dunnage.runner.snapshots import KeptSnapshot, keeping, snapshot_of
from dunnage.runner.stay import Stay
from dunnage.study.chance import seed


def make_snapshot(stay: Stay, workload: Workload, name: str) -> KeptSnapshot:
    """Make a snapshot in a stay that serves nothing else, as its database may be of no use after.

    Raises RunError when records were not stored, StayError when a step or a copy failed.
    """
    equipment = stay.equipment
    load(stay, workload, seed(f"{equipment.study.seed}:data"), stay.name)
    size = settle(stay).data_size
    snapshot = snapshot_of(stay.database, stay.deployment, stay.reservation)
    take(stay.platform, snapshot.complete, equipment.testbed.clock)
    keeping(stay.platform, stay.deployment).keep(name, snapshot.files)
    equipment.writer.journal(
        "snapshot made", stay=stay.name, name=name, records=workload.records, data_size=size
    )
    return KeptSnapshot(name, stay.name)
