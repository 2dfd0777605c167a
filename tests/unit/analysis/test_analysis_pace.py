"""What a result took besides measuring, and how restless it was, are found again."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_study import STUDY, plan, records, stays

from dunnage.analysis.pace import paces
from dunnage.model.record import Record, StayRecord, Window

STAY, AROUND, MEASURED = 3.0, 0.5, 4.0


def timed(noise: float, inside: float) -> tuple[list[Record], list[StayRecord]]:
    """A study of one run a stay; stays take 3 s and runs half a second besides what is measured."""
    planned = plan(12)
    chance = np.random.default_rng(5)
    made, seen = [], []
    length = STAY + AROUND + STUDY.load.warmup + MEASURED
    for at, (record, stay) in enumerate(
        zip(records(planned, 0.0, noise), stays(planned), strict=True)
    ):
        began = at * length
        counts = 200 * np.exp(chance.normal(0, inside, 20))
        line = tuple(
            Window(start=0.2 * i, length=0.2, operations=round(c), errors=0)
            for i, c in enumerate(counts.tolist())
        )
        assert record.measurement is not None
        changed = {"windows": line, "seconds": MEASURED}
        made.append(
            record.model_copy(
                update={
                    "stay": stay.stay,
                    "started": began + 2.0,
                    "ended": began + 2.0 + AROUND + STUDY.load.warmup + MEASURED,
                    "measurement": record.measurement.model_copy(update=changed),
                }
            )
        )
        seen.append(stay.model_copy(update={"started": began}))
    return made, seen


def test_the_seconds_of_stays_and_runs_are_found_by_platform() -> None:
    made, seen = timed(0.03, 0.02)
    found = {each.platform: each for each in paces(STUDY, plan(12), made, seen)}
    assert set(found) == {"native", "docker"}
    for each in found.values():
        assert each.stay == pytest.approx(STAY)
        assert each.around == pytest.approx(AROUND)
        assert (each.database, each.measured) == ("redis", MEASURED)
        assert each.spread == pytest.approx(0.03, rel=0.35)


def test_noise_inside_a_run_is_told_from_noise_between_runs() -> None:
    quiet, restless = (paces(STUDY, plan(12), *timed(0.03, inside))[0] for inside in (0.005, 0.12))
    assert quiet.within < 0.05
    assert restless.within > 0.5


def test_a_result_without_a_valid_run_tells_nothing() -> None:
    assert paces(STUDY, plan(12), [], []) == ()
