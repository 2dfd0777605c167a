"""The terminal's answer says everything, in whatever width, and obeys nobody's markup."""

import io

import pytest
from rich.console import Console, RenderableType

from dunnage.analysis.checks.finding import share
from dunnage.model.analysis import Verdict
from dunnage.model.calibration import Calibration, Capacity
from dunnage.model.check import CheckResult, Status
from dunnage.model.choices import Cores, Data
from dunnage.model.look import Look
from dunnage.model.remarks import Restored
from dunnage.report.terminal import text
from dunnage.wording import numbers, terms
from report_gates import spoilt_by
from report_samples import HOSTILE, nothing_measured, sample


def shown(renderable: RenderableType, width: int = 120, *, colour: bool = False) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        _environ={},
    )
    console.print(renderable)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_every_verdict_is_a_word_and_a_symbol() -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan))
    for verdict in Verdict:
        assert terms.mark(verdict) in output


def test_every_comparison_of_a_question_is_in_the_table_with_its_interval() -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan), 160)
    for question in made.analysis.answers:
        for comparison in question.comparisons:
            estimate = comparison.difference
            assert numbers.difference(estimate.value) in output
            assert numbers.interval(estimate) in output


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan), width)
    assert max(len(line) for line in output.splitlines()) <= width
    assert "…\n" not in output


def test_verdicts_are_coloured_where_there_is_colour_and_plain_where_there_is_none() -> None:
    made = sample()
    table = text.answer_table(made.analysis, made.study, made.plan)
    assert "\x1b[1;31m▼ overhead" in shown(table, colour=True)
    assert "\x1b" not in shown(table)


def test_few_blocks_have_no_interval_and_say_how_many_are_missing() -> None:
    made = sample(blocks=3)
    output = shown(text.answer_table(made.analysis, made.study, made.plan))
    assert "no interval below 6 blocks: 3 blocks so far, 3 more needed" in output
    assert "▼" not in output
    assert "±" not in output.split("Reading")[0].split("─")[-1]


def test_invalid_runs_are_counted_with_their_reasons() -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan))
    assert "93 of 97 valid, 2 invalid, 1 unknown, 1 missing" in output
    assert "2 × client:" in output
    assert "swarm: IPVS is missing in this kernel" in output


def test_attempts_made_again_and_spare_blocks_are_counted() -> None:
    looks = (Look(time=0.0, plan=2, complete=0, planned=6, added=2, spare=True),)
    made = sample()
    seen = made.analysis.model_copy(update={"disturbed": {"steal": 3}, "looks": looks})
    told = " ".join(shown(text.answer_table(seen, made.study, made.plan)).split())
    assert (
        "disturbed attempts were measured again (steal 3 ×); 2 spare blocks for incomplete" in told
    )
    assert "look 2" not in told


def test_what_rates_are_shares_of_is_told_with_its_doubt() -> None:
    made = sample()
    runs = {"calibration-A-t8-1": 990.0, "calibration-A-t8-2": 1010.0}
    stolen: tuple[CheckResult, ...] = (spoilt_by("steal", (share("steal", 0.2, "db-1"),)),)
    spoilt = dict.fromkeys(runs, stolen)

    def told(spoilt: dict[str, tuple[CheckResult, ...]]) -> str:
        capacity = Capacity(throughput=1000.0, runs=runs, spoilt=spoilt)
        found = Calibration(deployment="native", threads=8, capacities={"A": capacity})
        seen = made.analysis.model_copy(update={"calibration": found})
        return " ".join(shown(text.answer_table(seen, made.study, made.plan)).split())

    why = "steal: 20.0 % seen by db-1"
    known = "rates are shares of what native at 8 threads reached, workload A: 1,000 op/s"
    assert f"{known} Skipped" in told({})
    assert f"{known}; not reliable, as none of its 2 runs is valid ({why})" in told(spoilt)
    one = told({"calibration-A-t8-1": stolen})
    assert f"{known}; 1 of 2 runs left out ({why})" in one
    plain = shown(text.answer_table(made.analysis, made.study, made.plan))
    assert "Capacity" not in plain


def test_factors_and_undeclared_differences_are_named() -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan), 160)
    assert "docker-bridge from native: platform: native → docker; network: host → bridge" in output
    assert "another build of /usr/lib/libc.so.6 is loaded" in output


def test_an_exploratory_comparison_is_marked() -> None:
    made = sample()
    output = shown(text.answer_table(made.analysis, made.study, made.plan))
    assert "▼ overhead*" in output
    assert "* secondary or exploratory" in " ".join(output.split())


def test_a_study_without_any_finished_run_says_so() -> None:
    output = shown(text.answer_table(nothing_measured(), sample().study, sample().plan))
    assert "No comparison could be made" in output
    assert "60 missing" in output
    assert "docker-bridge: no dockerd could be found" in output


def test_what_must_be_known_first_comes_first() -> None:
    made = sample()
    table = text.answer_table(nothing_measured(), made.study, made.plan, ("no dockerd on db-1",))
    output = shown(table)
    headline = output.index("None of the 60 planned runs can be used.")
    assert headline < output.index("60 runs did not happen: no dockerd on db-1.")
    assert output.index("no dockerd on db-1") < output.index("No comparison could be made")


def test_a_fake_study_says_that_its_numbers_are_invented() -> None:
    made = sample()
    analysis = made.analysis.model_copy(update={"invented": True})
    assert "These numbers are invented" in shown(text.answer_table(analysis, made.study, made.plan))


def test_that_processors_were_emulated_is_said() -> None:
    made = sample()
    emulated = made.analysis.model_copy(update={"environment": {"cpu.accelerator": "TCG"}})
    said = "The processors were emulated"
    assert said in shown(text.answer_table(emulated, made.study, made.plan))
    assert said not in shown(text.answer_table(made.analysis, made.study, made.plan))


def test_that_clients_and_servers_shared_processors_is_said() -> None:
    made = sample()
    testbed = made.study.testbed.model_copy(update={"cores": Cores.SHARED})
    study = made.study.model_copy(update={"testbed": testbed})
    words = "shared their processors"
    assert words in shown(text.answer_table(made.analysis, study, made.plan))
    assert words not in shown(text.answer_table(made.analysis, made.study, made.plan))


def test_a_run_without_its_baseline_names_it_and_shows_what_was_reached() -> None:
    made = sample()
    plan = made.plan.model_copy(update={"deployments": made.plan.deployments[3:4]})
    alone = nothing_measured().model_copy(update={"summaries": made.analysis.summaries[-9:]})
    output = " ".join(shown(text.answer_table(alone, made.study, plan)).split())
    assert "the baseline `native` was not part of this run" in output
    assert "A part that can be compared: `--only native --only docker-bridge" in output
    assert "STUDY" not in output
    assert "docker-noisy, C, 32 threads" in output
    assert "no other difference was found" not in output


def test_conditions_with_different_baselines_are_told_apart() -> None:
    made = sample()
    other = made.analysis.answers[1].comparisons[0].model_copy(update={"baseline": "docker-host"})
    answer = made.analysis.answers[1].model_copy(update={"comparisons": (other,)})
    analysis = made.analysis.model_copy(update={"answers": (made.analysis.answers[0], answer)})
    output = shown(text.answer_table(analysis, made.study, made.plan))
    lines = [line.strip() for line in output.splitlines()]
    assert lines.count("against native") == 2
    assert lines.count("against docker-host") == 1


@pytest.mark.parametrize("width", [60, 80, 96, 120])
def test_a_plan_fits_and_no_name_of_a_deployment_breaks(width: int) -> None:
    output = shown(text.plan_table(sample().plan, sample().study, 60.0), width)
    for deployment in sample().plan.deployments:
        assert deployment.name in output
        assert deployment.title not in output
    assert max(len(line) for line in output.splitlines()) <= width


def test_hostile_names_are_shown_literally_and_cannot_steer_the_terminal() -> None:
    made = sample(hostile=True)
    output = shown(text.answer_table(made.analysis, made.study, made.plan), 400, colour=True)
    assert HOSTILE in output
    assert "[red]" in output
    assert "\x1b[31m<b>" not in output
    assert "\u202e" not in output


def test_the_plan_shows_blocks_stays_runs_time_and_what_is_skipped() -> None:
    made = sample()
    output = shown(text.plan_table(made.plan, made.study, 500.0))
    assert "8 blocks, 48 stays, 96 runs, about 8 min 20 s" in output
    assert "native-twin (twin of native)" in output
    assert "Docker with a bridge network" in shown(text.plan_table(made.plan, made.study, 1.0), 200)
    assert "swarm: IPVS is missing in this kernel" in output


def test_a_plan_of_too_few_blocks_says_that_it_cannot_answer() -> None:
    made = sample(blocks=3)
    assert "no interval below 6 blocks" in shown(text.plan_table(made.plan, made.study, 60.0))


def test_the_status_counts_finished_runs_by_deployment_and_block() -> None:
    made = sample()
    ids = [run.id for run in made.plan.runs()]
    statuses = dict.fromkeys(ids[:25], Status.VALID) | {ids[0]: Status.INVALID}
    output = shown(text.status_table(made.plan, statuses))
    assert "25 of 96 runs done" in output
    assert "!■▪·····" in output or "!■······" in output


def test_data_that_was_restored_is_told_with_the_stay_that_its_snapshot_was_made_in() -> None:
    made = sample()
    plainly = shown(text.answer_table(made.analysis, made.study, made.plan), 300)
    assert "restored" not in plainly
    stays = {"native": 8, "docker-bridge": 8}
    kept = (Restored(made_in="data-native", stays=stays),)
    restored = made.analysis.model_copy(update={"restored": kept})
    output = shown(text.answer_table(restored, made.study, made.plan), 300)
    assert "native and docker-bridge: data restored from a snapshot made in stay" in output
    assert "`data-native` (16 stays)" in output


def test_what_watching_took_is_told_where_it_is_known() -> None:
    made = sample()
    assert "Sampler" not in shown(text.answer_table(made.analysis, made.study, made.plan))
    watched = tuple(each.model_copy(update={"sampler": 0.25}) for each in made.analysis.conditions)
    seen = made.analysis.model_copy(update={"conditions": watched})
    output = shown(text.answer_table(seen, made.study, made.plan))
    assert "watching all hosts took at most 250 ms of CPU time in a run" in output


def test_a_plan_tells_that_its_data_is_put_in_once() -> None:
    made = sample()
    once = made.study.model_copy(update={"data": Data.RESTORE})
    assert "loaded once" in shown(text.plan_table(made.plan, once, 60.0), 200)
    assert "loaded once" not in shown(text.plan_table(made.plan, made.study, 60.0), 200)
