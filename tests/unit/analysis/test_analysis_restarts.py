"""An answer lists the stays in which programs of an orchestrator were restarted."""

from __future__ import annotations

from analysis_study import STUDY, plan, record, records, stays

from dunnage.findings.analyse import analyse
from dunnage.findings.restarts.restarted import restarted
from dunnage.model.analysis import Analysis, Restarted
from dunnage.model.record import Record, Restart


def restart(time: float, program: str = "kube-apiserver", host: str = "control-1") -> Restart:
    return Restart(host=host, program=program, signal=9, time=time)


def run(stay: str, *found: Restart) -> Record:
    return record(run=f"{stay}-A-t8-1", stay=stay, restarts=found)


def test_stays_in_which_nothing_was_restarted_or_nothing_is_known_of_it_are_not_listed() -> None:
    assert restarted([run("b1-native"), record(restarts=None)]) == ()


def test_a_stay_has_what_any_of_its_runs_tells_once_and_in_the_order_of_time() -> None:
    first, second, third = restart(1.0), restart(2.0, "kubelet", "db-1"), restart(3.0)
    found = restarted(
        [
            run("b1-native", first),
            run("b2-native"),
            run("b1-native", third, first, second),
            run("b3-native", third),
        ]
    )
    assert found == (
        Restarted(stay="b1-native", block=1, deployment="native", restarts=(first, second, third)),
        Restarted(stay="b3-native", block=1, deployment="native", restarts=(third,)),
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
