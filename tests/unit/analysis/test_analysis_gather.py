"""What is counted of the runs of a study."""

from __future__ import annotations

from analysis_study import plan, records

from dunnage.analysis.gather import gather
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.record import Attempt

STOLEN = CheckResult(check="steal", status=Status.INVALID, why=Why.MEASURED)


def attempt(started: float) -> Attempt:
    return Attempt(started=started, ended=started + 5.0, throughput=1.0, checks=(STOLEN,))


def test_an_attempt_of_deployments_that_were_driven_together_is_counted_once() -> None:
    planned = plan()
    made = records(planned, 0.1)
    first, second = {made[0].block}, {made[-1].block}
    spoilt = [
        record.model_copy(
            update={
                "earlier": tuple(
                    attempt(100.0 * record.block)
                    for blocks in (first, second)
                    if record.block in blocks
                )
            }
        )
        for record in made
    ]
    assert sum(len(record.earlier) for record in spoilt) == 6
    assert gather(planned, spoilt, {}).disturbed() == {"steal": 2}
    alone = [
        record.model_copy(update={"earlier": (attempt(float(number)),)})
        for number, record in enumerate(made)
    ]
    assert gather(planned, alone, {}).disturbed() == {"steal": len(made)}
