"""Reasons are told once, with how many runs they are of; the cause comes before its effects."""

from collections.abc import Sequence

from dunnage.analysis.checks import GATES
from dunnage.analysis.checks.finding import count, share
from dunnage.analysis.gather import FILES
from dunnage.findings.checks import reasons
from dunnage.findings.checks.sentences import trouble
from dunnage.model.analysis import Analysis
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.model.parity import Aspect, Cause, Difference
from dunnage.wording.checks import CAUSES
from report_gates import spoilt_by
from report_samples import nothing_measured, sample

BOUND = (share("steal", 0.05),)
OTHER_HEAP = Difference(
    roles=("primary",),
    aspect=Aspect.RUNTIME,
    name="heap",
    baseline="1",
    deployment="2",
    cause=Cause.UNDECLARED,
)
UNREAD = OTHER_HEAP.model_copy(update={"aspect": Aspect.UNREAD, "cause": Cause.UNKNOWN})
STEADY = spoilt_by("steady", (share("change", 0.61), count("windows", 20), count("empty", 1)))


def steal(part: float, host: str) -> CheckResult:
    return spoilt_by("steal", (share("steal", part, host),), BOUND)


def swap(size: float, host: str) -> CheckResult:
    seen = Reading(what="swap", value=size, unit="B", where=host)
    return spoilt_by("swap", (seen,), (Reading(what="swap", value=0.0, unit="B"),))


def spoilt(*given: Sequence[CheckResult | Difference]) -> Analysis:
    """Runs of a study that are invalid for these, each for its own."""
    analysis = sample().analysis
    runs = tuple(
        run.model_copy(
            update={
                "status": "invalid",
                "checks": tuple(what for what in why if isinstance(what, CheckResult)),
                "differences": tuple(what for what in why if isinstance(what, Difference)),
            }
        )
        for run, why in zip(analysis.runs, given, strict=False)
    )
    counted = {"planned": len(runs), "valid": 0, "invalid": len(runs), "missing": 0}
    return analysis.model_copy(update={"runs": runs, **counted})


def test_reasons_that_differ_in_figures_and_hosts_are_one_with_a_range() -> None:
    given = [[steal(0.073, "client-1")], [steal(0.121, "db-2")], [steal(0.06, "client-1")]]
    found = reasons.why_not_valid(spoilt(*given))
    assert [(each.runs, each.text) for each in found] == [
        (3, "steal: 6.0 to 12.1 % seen by client-1, db-2; wanted below 5.0 % of CPU time")
    ]


def test_other_reasons_stay_apart_and_the_most_frequent_comes_first() -> None:
    given = [[swap(3 * 2**20, "db-1")], [steal(0.06, "db-1")], [steal(0.07, "db-1")]]
    found = reasons.why_not_valid(spoilt(*given))
    assert [each.gate for each in found] == ["steal", "swap"]
    assert found[1].seen == "3.0 MiB on db-1"


def test_a_reason_says_which_deployments_it_hit() -> None:
    """Deployments that are driven in turns are disturbed together: that is one line."""
    analysis = spoilt(*[[steal(0.09, "client-1")]] * 4)
    (found,) = reasons.why_not_valid(analysis)
    assert found.runs == 4
    assert found.deployments == tuple(dict.fromkeys(run.deployment for run in analysis.runs))


def test_many_hosts_are_named_in_part() -> None:
    given = [[steal(0.06, f"db-{number}")] for number in range(1, 6)]
    (found,) = reasons.why_not_valid(spoilt(*given))
    assert found.seen == "6.0 % seen by db-1, db-2, db-3 and 2 more"


def test_a_sentence_of_an_old_record_is_told_as_it_is() -> None:
    old = CheckResult.model_validate(
        {"check": "steal", "status": "invalid", "seen": "9 % seen by db-1", "bound": "below 5 %"}
    )
    (found,) = reasons.why_not_valid(spoilt([old]))
    assert found.text == "steal: 9 % seen by db-1; wanted below 5 %"


def test_sentences_of_old_records_that_differ_in_figures_are_one_with_a_range() -> None:
    told = [{"seen": f"{share} % seen by db-1", "bound": "below 5 %"} for share in ("9.1", "7.3")]
    old = [
        CheckResult.model_validate({"check": "steal", "status": "invalid", **each}) for each in told
    ]
    (found,) = reasons.why_not_valid(spoilt([old[0]], [old[1]]))
    assert (found.runs, found.seen) == (2, "7.3 to 9.1 % seen by db-1")


def test_differences_that_differ_in_figures_are_one_with_a_range() -> None:
    other = OTHER_HEAP.model_copy(update={"deployment": "9"})
    (found,) = reasons.why_not_valid(spoilt([OTHER_HEAP], [other]))
    assert (found.runs, found.seen) == (2, "primary: virtual machine, heap: 1 → 2 to 9")


def test_what_could_not_be_checked_has_a_headline_of_its_own() -> None:
    unknown = CheckResult(check="steal", status=Status.UNKNOWN, why=Why.NOT_KNOWN)
    found = reasons.first_causes(spoilt([unknown], [steal(0.09, "db-1")]))
    stolen = CAUSES["steal", Status.INVALID]
    assert set(found) == {stolen, "the check `steal` could not be made"}


def test_every_gate_has_plain_words() -> None:
    assert set(GATES) - {"iowait"} <= {gate for gate, _ in CAUSES}


def test_damaged_files_were_checked_and_found() -> None:
    file = Reading(what="file", value="record.json", where="it is truncated")
    damaged = CheckResult(check=FILES, status=Status.UNKNOWN, why=Why.DAMAGED, seen=(file,))
    found = reasons.first_causes(spoilt([steal(0.09, "db-1"), damaged]))
    assert set(found) == {"files of the result are damaged"}


def test_what_may_differ_has_other_words_than_what_does() -> None:
    found = reasons.why_not_valid(spoilt([OTHER_HEAP], [UNREAD]))
    assert len({each.cause for each in found}) == 2
    assert {each.cause for each in found} <= set(CAUSES.values())


def test_a_run_with_two_reasons_counts_once_under_the_one_that_brings_the_other_about() -> None:
    found = reasons.first_causes(spoilt([STEADY, steal(0.09, "db-1")], [STEADY]))
    assert {cause: sum(each.runs for each in group) for cause, group in found.items()} == {
        CAUSES["steal", Status.INVALID]: 1,
        CAUSES["steady", Status.INVALID]: 1,
    }


def test_a_run_that_says_nothing_counts_too() -> None:
    found = reasons.first_causes(spoilt([], [STEADY]))
    assert [(gate, group[0].runs) for gate, group in found.items()] == [
        (CAUSES["steady", Status.INVALID], 1),
        ("unknown", 1),
    ]


def test_when_nothing_counts_the_first_words_are_that_and_the_commonest_cause() -> None:
    found = trouble(spoilt([steal(0.09, "db-1")], [steal(0.08, "db-1")], [OTHER_HEAP]))
    assert found is not None
    assert found.grave
    assert found.headline == "None of the 3 planned runs can be used."
    assert found.causes[0] == (
        "2 runs: other users of this physical machine took processor time "
        "(8.0 to 9.0 % seen by db-1; wanted: below 5.0 % of CPU time)."
    )
    assert found.causes[1] == (
        "1 run: the deployments did not run the same thing (primary: virtual machine, heap: 1 → 2)."
    )


def test_runs_that_never_happened_are_told_with_the_failure_behind_them() -> None:
    found = trouble(nothing_measured(), ["no dockerd on db-1", "no dockerd on db-2"])
    assert found is not None
    assert found.causes == ("60 runs did not happen: no dockerd on db-1, db-2.",)


def test_a_study_that_went_well_has_no_trouble() -> None:
    assert trouble(sample().analysis) is None


def test_all_that_is_said_of_a_gate_can_be_said_of_what_it_finds() -> None:
    unknown = CheckResult(check="swap", status=Status.UNKNOWN, why=Why.NOT_KNOWN)
    (found,) = reasons.why_not_valid(spoilt([unknown]))
    assert found.seen == "not known: no host reported it"
