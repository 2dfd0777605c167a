"""A study that gets nowhere is told after its first blocks, with what fails in how many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planned import one_run

from dunnage.analysis.checks.finding import share
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.plan import RunPlan
from dunnage.model.record import Record
from dunnage.model.study import QuestionSpec
from dunnage.runner.outlook import BARREN, Outlook
from report_gates import spoilt_by, unseen_by

NAMES = ("native", "host", "bridge")
ASKED = {"Q": QuestionSpec(baseline="native", against=("host", "bridge"))}


def busy(part: float, **processes: float) -> CheckResult:
    seen = (
        share("others", part),
        *(share("process", each, name) for name, each in processes.items()),
    )
    return spoilt_by("other load", seen, (share("others", 0.1),))


def block(number: int, names: Sequence[str] = NAMES) -> list[RunPlan]:
    planned = one_run()
    return [
        planned.model_copy(update={"id": f"b{number}-{name}", "block": number, "deployment": name})
        for name in names
    ]


def record(run: RunPlan, *checks: CheckResult) -> Record:
    return Record(
        run=run.id,
        stay=run.id,
        block=run.block,
        deployment=run.deployment,
        workload=run.workload,
        level=run.level,
        repeat=1,
        position=0,
        started=0.0,
        ended=1.0,
        status=Status.INVALID if checks else Status.VALID,
        checks=checks,
        measurement=None,
        usage=(),
    )


class Following:
    """An outlook that is told what became of each run of block after block."""

    def __init__(self) -> None:
        self.outlook = Outlook()
        self.done: set[str] = set()
        self.blocks = 0

    def block(
        self,
        became: Mapping[str, Sequence[CheckResult]],
        failures: Mapping[str, str] | None = None,
        names: Sequence[str] = NAMES,
    ) -> str:
        """The runs that happened, with what stands against each; what is said afterwards."""
        self.blocks += 1
        due = block(self.blocks, names)
        for run in due:
            if run.deployment in became:
                self.outlook.finished(record(run, *became[run.deployment]))
                self.done.add(run.id)
        return self.outlook.after(due, self.done, failures or {}, ASKED)


def test_a_block_of_which_nothing_can_be_used_is_told_once_with_who_disturbed() -> None:
    study = Following()
    shares = {"native": 0.45, "host": 0.38, "bridge": 0.41}
    every = {name: [busy(part, stress=part - 0.1)] for name, part in shares.items()}
    assert study.block(every) == (
        "in block 1 no run can be used (3 runs). 3 runs: other programs on this machine were busy "
        "(38.0 to 45.0 % used by others (busiest: stress); wanted: below 10.0 % of the machine's "
        "CPU time)."
    )
    assert study.block(every) == ""
    assert not study.outlook.hopeless


def test_what_nobody_sees_is_no_cause() -> None:
    outlook = Outlook()
    (run, *_) = block(1)
    outlook.finished(record(run, unseen_by("swap"), busy(0.4)))
    assert outlook.against[run.id] == (busy(0.4),)


def test_where_some_can_be_used_nothing_is_told() -> None:
    quiet = Following()
    for number in range(5):
        spoilt = NAMES[number % len(NAMES)]
        assert quiet.block({name: [busy(0.4)] if name == spoilt else [] for name in NAMES}) == ""


def test_a_deployment_that_fails_in_block_after_block_is_told_while_the_others_go_on() -> None:
    study = Following()
    came = {"native": (), "host": ()}
    failure = {"bridge": "db-1: `dockerd` is not ready"}
    assert study.block(came, failure) == ""
    assert study.block(came, failure) == (
        "in block 2 no run of `bridge` can be used (1 run), as in the block before. 1 run did not "
        "happen: db-1: `dockerd` is not ready."
    )
    for _ in range(2 * BARREN):
        assert study.block(came, failure) == ""
    assert not study.outlook.hopeless


def test_a_study_of_which_nothing_happens_is_without_hope_and_one_run_brings_hope_back() -> None:
    study = Following()
    for _ in range(BARREN - 1):
        study.block({})
        assert not study.outlook.hopeless
    study.block(dict.fromkeys(NAMES, ()))
    assert not study.outlook.hopeless
    for _ in range(BARREN):
        study.block({})
    assert study.outlook.hopeless


def test_without_its_baseline_a_study_compares_nothing() -> None:
    study = Following()
    for _ in range(BARREN):
        study.block({"host": (), "bridge": ()})
    assert study.outlook.hopeless


def test_a_part_of_a_study_that_compares_nothing_goes_on_as_long_as_it_measures() -> None:
    study = Following()
    for _ in range(BARREN):
        study.block({"host": ()}, names=("host", "bridge"))
    assert not study.outlook.hopeless


def test_disturbed_runs_never_stop_a_study() -> None:
    study = Following()
    for _ in range(2 * BARREN):
        study.block({name: [busy(0.9)] for name in NAMES})
    assert not study.outlook.hopeless


def test_a_check_that_could_not_be_made_spoils_a_run_too() -> None:
    unknown = CheckResult(check="steady", status=Status.UNKNOWN, why=Why.TOO_SHORT)
    told = Following().block({name: [unknown] for name in NAMES})
    assert "3 runs: the check `steady` could not be made" in told
