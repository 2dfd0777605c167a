"""The page holds everything in one file, asks nobody for anything, and trusts no text."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from dunnage.analysis.checks.finding import share
from dunnage.errors import ResultError
from dunnage.model.analysis import GateSummary
from dunnage.model.calibration import Calibration, Capacity
from dunnage.model.check import CheckResult, Status, Why
from dunnage.model.choices import Cores
from dunnage.model.look import Look
from dunnage.model.plan import Skipped
from dunnage.model.remarks import Restored
from dunnage.report.page.page import page
from dunnage.store.write import write_again
from dunnage.wording import numbers
from report_gates import unseen_by
from report_samples import HOSTILE, Sample, nothing_measured, sample

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Elements(HTMLParser):
    """Every element with its attributes, the visible text, and tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def rendered(made: Sample) -> str:
    return page(made.analysis, made.study, made.plan, made.stays, source=made.source)


def test_elements_are_closed_and_ids_are_unique_and_anchors_lead_somewhere() -> None:
    found = Elements(rendered(sample()))
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert anchors
    assert {str(anchor).removeprefix("#") for anchor in anchors} <= set(ids)


def test_headings_go_down_one_step_at_a_time() -> None:
    levels = [int(tag[1]) for tag, _ in Elements(rendered(sample())).elements if tag in _HEADINGS]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


_HEADINGS = {"h1", "h2", "h3", "h4"}


def test_nothing_is_asked_of_any_network() -> None:
    text = rendered(sample())
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    for _, attributes in Elements(text).elements:
        for name in ("src", "href", "action", "srcset", "data", "poster"):
            assert str(attributes.get(name, "#")).startswith(("#", "data:,"))


def test_the_page_stays_small() -> None:
    assert len(rendered(sample()).encode()) < 500_000


def test_every_number_of_a_question_is_written_as_the_terminal_writes_it() -> None:
    made = sample()
    text = " ".join(Elements(rendered(made)).text)
    for answer in made.analysis.answers:
        for comparison in answer.comparisons:
            estimate = comparison.difference
            assert numbers.difference(estimate.value) in text
            assert numbers.interval(estimate) in text


def test_the_answer_comes_before_anything_else() -> None:
    text = rendered(sample())
    answer = text.index("costs Redis")
    assert answer < text.index('id="differences"')
    assert text.index("<h1>") < answer


def test_hostile_text_makes_no_elements_and_is_shown_as_it_is() -> None:
    text = rendered(sample(hostile=True))
    found = Elements(text)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert "b" not in tags
    assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)
    assert any(HOSTILE in data for data in found.text)
    assert "{{ 7 * 7 }}" in "".join(found.text)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_what_no_host_used_and_realised_slowdowns_show_where_there_are_any() -> None:
    made = sample()
    assert "outside any host" not in rendered(made) and "Slowed down" not in rendered(made)
    shares = (*made.analysis.shares, made.analysis.shares[0].model_copy(update={"part": "outside"}))
    first, *rest = made.analysis.runs
    runs = (first.model_copy(update={"paused": 0.0512}), *rest)
    analysis = made.analysis.model_copy(update={"shares": shares, "runs": runs})
    text = " ".join(Elements(rendered(replace(made, analysis=analysis))).text)
    assert "kernel, outside any host" in text and "it belongs to no host" in text
    assert "Slowed down" in text and "5.12" in text


def test_few_blocks_are_said_to_be_few() -> None:
    text = " ".join(Elements(rendered(sample(blocks=3))).text)
    assert "in throughput is not known yet" in text
    assert "no interval" in text


def test_the_page_of_a_quick_try_advises_no_more_of_its_blocks() -> None:
    made = sample(3)
    assert "--blocks" in rendered(made)
    assert "--blocks" not in page(made.analysis, made.study, made.plan, made.stays, scale=0.1)


def test_a_study_without_any_finished_run_still_has_a_page() -> None:
    made = sample()
    text = page(nothing_measured(), made.study, made.plan, ())
    assert "No comparison could be made" in text
    assert "docker-bridge: no dockerd could be found" in text


def test_when_nothing_can_be_used_that_and_its_cause_are_the_first_thing_said() -> None:
    made = sample()
    text = page(nothing_measured(), made.study, made.plan, (), failures=("no dockerd on db-1",))
    first = " ".join(Elements(text.split('id="answer"')[1].split("<nav")[0]).text)
    assert first.index("None of the 60 planned runs can be used.") < first.index("no dockerd on db")
    assert first.index("no dockerd on db-1") < first.index("No comparison could be made")


def test_a_fake_study_says_that_its_numbers_are_invented() -> None:
    made = sample()
    analysis = made.analysis.model_copy(update={"invented": True})
    text = page(analysis, made.study, made.plan, made.stays)
    assert text.index("These numbers are invented") < text.index('class="question"')
    assert "These numbers are invented" not in rendered(made)


def test_that_processors_were_emulated_is_said_before_any_number() -> None:
    made = sample()
    analysis = made.analysis.model_copy(update={"environment": {"cpu.accelerator": "TCG"}})
    shown = page(analysis, made.study, made.plan, made.stays)
    assert shown.index("The processors were emulated") < shown.index('class="question"')
    assert "The processors were emulated" not in rendered(made)


def test_that_clients_and_servers_shared_processors_is_said() -> None:
    made = sample()
    testbed = made.study.testbed.model_copy(update={"cores": Cores.SHARED})
    study = made.study.model_copy(update={"testbed": testbed})
    text = page(made.analysis, study, made.plan, made.stays)
    assert text.index("shared their processors") < text.index('class="question"')
    assert "shared their processors" not in rendered(made)


def test_a_run_without_its_baseline_says_so_and_shows_what_was_reached() -> None:
    made = sample()
    plan = made.plan.model_copy(update={"deployments": made.plan.deployments[3:4]})
    empty = nothing_measured().model_copy(update={"summaries": made.analysis.summaries[-9:]})
    text = " ".join(Elements(page(empty, made.study, plan, ())).text)
    assert "the baseline native was not part of this run" in " ".join(text.split())
    assert "--only native --only docker-bridge" in text
    assert "docker-noisy, C, 32 threads" in text


def test_what_stands_between_backticks_is_code_and_never_markup() -> None:
    made = sample()

    def skipping(reason: str) -> str:
        skipped = (Skipped(deployment="d", reason=reason),)
        return rendered(
            replace(made, analysis=made.analysis.model_copy(update={"skipped": skipped}))
        )

    assert "try `&lt;b&gt;x&lt;/b&gt;` or `y" in skipping("try `<b>x</b>` or `y")
    assert "try <code>&lt;b&gt;x&lt;/b&gt;</code>" in skipping("try `<b>x</b>`")


def test_runs_over_capacity_are_said_before_the_numbers_and_stand_in_the_table() -> None:
    made = sample()
    first, *rest = made.analysis.runs
    values = {**first.values, "offered": 60_000.0, "achieved": 0.81, "backlog.slope": 0.19}
    over = first.model_copy(update={"over_capacity": True, "values": values})
    analysis = made.analysis.model_copy(update={"runs": (over, *rest)})
    text = " ".join(Elements(rendered(replace(made, analysis=analysis))).text)
    assert text.index("81.0 % of the rate at worst") < text.index("Differences from the baseline")
    assert "valid, over capacity" in text and "Growth of the backlog" in text
    assert "Over capacity" not in rendered(made)


def test_a_capacity_from_spoilt_runs_is_doubted_where_trust_is_the_matter() -> None:
    made = sample()
    capacity = Capacity(throughput=1000.0, runs={"c-1": 1000.0}, spoilt={"c-1": "steal: 20 %"})
    found = Calibration(deployment="native", threads=8, capacities={"A": capacity})
    analysis = made.analysis.model_copy(update={"calibration": found})
    told = " ".join(Elements(rendered(replace(made, analysis=analysis))).text)
    assert "1,000 op/s; not reliable, as none of its 1 run is valid (steal: 20 %)" in told
    assert "not reliable" not in rendered(made)


def test_the_page_lists_the_snapshot_that_data_was_restored_from() -> None:
    made = sample()
    kept = (Restored(made_in="data-native", stays={"native": 8, "docker-bridge": 8}),)
    analysis = made.analysis.model_copy(update={"restored": kept})
    told = " ".join(Elements(rendered(replace(made, analysis=analysis))).text)
    assert "data restored from a snapshot made in stay" in told
    assert "data restored" not in rendered(made)


def test_the_trend_that_was_seen_is_told() -> None:
    made = sample()
    assert "Trend" not in rendered(made)
    moves = zip(made.analysis.runs, (0.031, -0.012, 0.004), strict=False)
    first = [run.model_copy(update={"trend": by}) for run, by in moves]
    analysis = made.analysis.model_copy(update={"runs": (*first, *made.analysis.runs[3:])})
    text = " ".join(" ".join(Elements(rendered(replace(made, analysis=analysis))).text).split())
    assert "moved by −1.2 % to +3.1 %, that of half of them by at most 1.2 %" in text
    assert "by more than chance explains" in text
    assert "Trend %, last third over first" in text


def test_every_gate_is_told_with_how_near_it_was_to_firing() -> None:
    made = sample()
    gates = (
        GateSummary(
            gate="steal",
            judged=96,
            fired=2,
            unknown=1,
            nearest=0.84,
            example=CheckResult(
                check="steal",
                status=Status.VALID,
                why=Why.MEASURED,
                seen=(share("steal", 0.042, "db-1"),),
                allowed=(share("steal", 0.05),),
            ),
        ),
    )
    analysis = made.analysis.model_copy(update={"gates": gates})
    text = " ".join(" ".join(Elements(rendered(replace(made, analysis=analysis))).text).split())
    assert "steal 2 of 96 1 84 % 4.2 % seen by db-1 below 5.0 %" in text


def test_only_runs_in_which_nobody_sees_it_are_told_with_that_reason() -> None:
    made, hidden = sample(), unseen_by("steal")
    gate = GateSummary(
        gate="steal",
        judged=96,
        fired=0,
        unknown=5,
        nearest=None,
        example=hidden,
        unseen_runs=2,
        unseen=("it runs elsewhere",),
    )
    analysis = made.analysis.model_copy(update={"gates": (gate,)})
    text = " ".join(" ".join(Elements(rendered(replace(made, analysis=analysis))).text).split())
    assert "steal 0 of 96 5 - cannot be judged in 2 runs: it runs elsewhere" in text


def test_spare_blocks_that_nobody_saw_a_number_of_are_no_look() -> None:
    made = sample()
    real = Look(time=0.0, plan=2, complete=6, planned=6, added=2)
    spare = Look(time=1.0, plan=3, complete=0, planned=8, added=1, spare=True)

    def told(*looks: Look) -> str:
        analysis = made.analysis.model_copy(update={"looks": looks})
        return " ".join(" ".join(Elements(rendered(replace(made, analysis=analysis))).text).split())

    assert "Looks before this one 1 " in told(real, spare)
    assert "This is look 2 at the study" in told(real, spare)
    assert "Looks before this one" not in told(spare)
    assert "1 spare block for incomplete ones" in told(spare)


def test_the_study_file_is_inside_as_it_was_given() -> None:
    made = sample()
    assert "workloads: [A, C]\nload: {threads: [32], duration: 4s}" in rendered(made)


def test_the_same_analysis_makes_the_same_page() -> None:
    assert rendered(sample()) == rendered(sample())


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ResultError, match="taken"):
        write_again(tmp_path / "taken" / "a.html", b"")


def test_time_lines_after_the_second_are_folded_under_their_title() -> None:
    made = sample()
    more = tuple(line.model_copy(update={"level": "t64"}) for line in made.analysis.timelines)
    lines = (*made.analysis.timelines, *more)
    text = rendered(replace(made, analysis=made.analysis.model_copy(update={"timelines": lines})))
    folded = re.findall(r"<details><summary>(Workload [AC], 64 threads)</summary>", text)
    assert folded == ["Workload A, 64 threads", "Workload C, 64 threads"]
