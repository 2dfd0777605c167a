"""`--rates-of`: shares of a capacity that another result found, so that rates are the same."""

from __future__ import annotations

from pathlib import Path

from dunnage.errors import UsageError
from dunnage.model.calibration import Calibration
from dunnage.model.plan import Plan
from dunnage.store.read import open_result
from dunnage.store.whole import foundation
from dunnage.wording import damage


def taken(path: Path, plan: Plan, without: str) -> Calibration:
    """The capacity that a result found, for a plan of a new one; it says where it is from.

    `without` is the command that measures it anew.

    Raises UsageError where no rate of the plan is a share, and where the result has not found what
    shares are of: the same deployment in as many threads, under every workload.
    """
    if plan.calibration is None:
        raise UsageError(
            "`--rates-of` needs a study with a rate that is a share of a capacity, such as "
            "`rate: [60%]`",
            hint=without,
        )
    result = open_result(path)
    root = result.layout.root
    for found in foundation(result):
        if found.file == result.layout.calibration.name:
            raise _refused(f"its capacity cannot be taken: {damage.line(found)}", root, without)
    wanted = plan.calibration.stay.runs
    known = result.calibration
    if known is None:
        raise _refused("this result has no capacity that rates can be shares of", root, without)
    name, threads = wanted[0].deployment, wanted[0].level.threads
    if (known.deployment, known.threads) != (name, threads):
        raise _refused(
            f"this result has the capacity of `{known.deployment}` at {known.threads} threads; "
            f"the study needs that of `{name}` at {threads}",
            root,
            without,
        )
    lacking = [run.workload.name for run in wanted if run.workload.name not in known.capacities]
    if lacking:
        raise _refused(f"this result has no capacity under workload `{lacking[0]}`", root, without)
    source = known.taken_from or f"{root.parent.name}/{root.name}"
    return known.model_copy(update={"taken_from": source})


def _refused(what: str, root: Path, without: str) -> UsageError:
    return UsageError(what, where=str(root), hint=without)
