"""An answer lists the snapshots that its stays started with."""

from __future__ import annotations

from analysis_cases import stay
from analysis_study import STUDY, plan, records, stays

from dunnage.findings.analyse import analyse
from dunnage.findings.snapshots.restored import restored
from dunnage.model.analysis import Analysis
from dunnage.model.record import StayRecord


def test_stays_that_put_their_records_in_are_not_listed() -> None:
    planned = plan(6)
    assert restored(planned, stays(planned)) == ()


def test_every_snapshot_is_listed_with_the_stays_of_each_deployment() -> None:
    first = [
        stay(name, block, restored_from="data-docker")
        for block in (1, 2)
        for name in ("docker", "native", "twin")
    ]
    later = stay("native", 3, restored_from="data-native")
    one, other = restored(plan(3), [later, *first])
    assert (one.made_in, one.stays) == ("data-docker", {"native": 2, "twin": 2, "docker": 2})
    assert list(one.stays) == ["native", "twin", "docker"]
    assert (other.made_in, other.stays) == ("data-native", {"native": 1})


def test_an_analysis_holds_them_and_its_numbers_do_not_depend_on_them() -> None:
    planned = plan(6)
    made, loaded = records(planned, 0.05), stays(planned)
    kept = [each.model_copy(update={"restored_from": "data-native"}) for each in loaded]

    def analysed(seen: list[StayRecord]) -> Analysis:
        return analyse(STUDY, planned, made, seen, {}, lambda _: None)

    plainly, again = analysed(loaded), analysed(kept)
    assert plainly.restored == ()
    assert [each.made_in for each in again.restored] == ["data-native"]
    assert again.model_copy(update={"restored": ()}) == plainly
