"""An answer lists the stays in which programs of a lab's Kubernetes were restarted."""

from __future__ import annotations

from analysis_study import STUDY, plan, record, records, stays

from dunnage.findings.analyse import analyse
from dunnage.findings.restarts.restarted import restarted
from dunnage.model.analysis import Analysis
from dunnage.model.record import Record, Restart
from dunnage.model.remarks import Restarted


def restart(time: float, program: str = "kube-apiserver", host: str = "control-1") -> Restart:
    return Restart(host=host, program=program, code=-9, time=time)


def run(stay: str, *found: Restart) -> Record:
    return record(run=f"{stay}-A-t8-1", stay=stay, restarts=found)


def test_stays_in_which_nothing_was_restarted_or_nothing_is_known_of_it_are_not_listed() -> None:
    assert restarted([run("b1-native"), record(restarts=None)]) == ()


def test_a_stay_has_what_that_run_of_it_tells_which_tells_most() -> None:
    """The same restart has another time in each record: it is read by a clock that goes on."""

    def by_then(moved: float) -> tuple[Restart, ...]:
        return restart(1.0 + moved), restart(2.0 + moved, "kubelet", "db-1"), restart(3.0 + moved)

    found = restarted(
        [
            run("b1-native", *by_then(0.0)[:1]),
            run("b2-native"),
            run("b1-native", *by_then(1e-6)),
            run("b3-native", restart(9.0)),
            record(run="b1-native-A-t8-3", stay="b1-native", restarts=None),
            run("b1-native", *by_then(-1e-6)[:2]),
        ]
    )
    assert found == (
        Restarted(stay="b1-native", block=1, deployment="native", restarts=by_then(1e-6)),
        Restarted(stay="b3-native", block=1, deployment="native", restarts=(restart(9.0),)),
    )


def test_an_analysis_lists_them_and_its_numbers_do_not_depend_on_them() -> None:
    planned = plan(6)
    made = records(planned, 0.05)

    def analysed(runs: list[Record]) -> Analysis:
        return analyse(STUDY, planned, runs, stays(planned), {}, lambda _: None)

    hurt = [
        each.model_copy(update={"restarts": (restart(1.0),) if each.stay == "b2-docker" else ()})
        for each in made
    ]
    plainly, again = analysed(made), analysed(hurt)
    assert plainly.restarted == ()
    assert [(each.stay, each.deployment) for each in again.restarted] == [("b2-docker", "docker")]
    assert again.model_copy(update={"restarted": ()}) == plainly
