"""Ladders: bars start where the last one ended, and a rest is drawn only where there can be one."""

from __future__ import annotations

import re

import pytest
from matplotlib.patches import Rectangle
from rich.console import Console

from dunnage.drawing.ladder import Kind, Ladders
from dunnage.findings.rungs.figures import ladders
from dunnage.findings.rungs.sentences import notes
from dunnage.model.analysis import Analysis
from dunnage.report.page.page import page
from dunnage.report.paper.ladder import paint_ladders
from dunnage.report.tables.every import tables
from dunnage.report.terminal.rungs import rungs_tables
from dunnage.wording.terms import title
from report_samples import nothing_measured, sample


def pictures() -> dict[str, Ladders]:
    return {each.name: each for each in ladders(sample().analysis)}


def test_there_is_one_picture_for_each_workload_and_level_with_a_ladder_for_each_metric() -> None:
    found = pictures()
    assert list(found) == ["rungs-A-t32", "rungs-C-t32"]
    titles = [ladder.title for ladder in found["rungs-A-t32"].ladders]
    assert titles == ["Service time, mean", "CPU per operation, database hosts"]


def test_a_bar_starts_where_the_last_one_ended_and_the_whole_at_the_first_deployment() -> None:
    for picture in pictures().values():
        for ladder in picture.ladders:
            *steps, whole = ladder.rungs
            assert whole.kind is Kind.WHOLE
            reached = 0.0
            for bar in steps:
                assert bar.start == pytest.approx(reached)
                reached = bar.end
            assert (whole.start, whole.end) == pytest.approx((0.0, reached))


def test_a_rest_is_drawn_where_blocks_differ_and_none_where_it_is_zero_by_arithmetic() -> None:
    for found in sample().analysis.rungs:
        picture = pictures()[f"rungs-{found.workload}-{found.level}"]
        (ladder,) = (one for one in picture.ladders if one.title == title(found.metric))
        rest = [bar.kind for bar in ladder.rungs if bar.kind not in {Kind.STEP, Kind.WHOLE}]
        assert rest == ([Kind.REST] if found.unexplained else [])


def test_intervals_lie_about_the_end_of_their_step_in_microseconds() -> None:
    first, second, *_ = pictures()["rungs-A-t32"].ladders[0].rungs
    assert (first.end, first.low, first.high) == pytest.approx((33.1, 23.17, 43.03))
    assert second.low is not None and second.high is not None
    assert second.low < second.end < second.high < second.start
    assert second.value == "−13.2 (−17.2 … −9.27)"


def test_an_axis_holds_every_bar_with_its_interval() -> None:
    for picture in pictures().values():
        for ladder in picture.ladders:
            for bar in ladder.rungs:
                ends = (bar.start, bar.end, bar.low or 0.0, bar.high or 0.0)
                scale = ladder.axis.scale
                assert scale.low <= min(ends) and max(ends) <= scale.high


def test_the_notes_say_what_steps_add_up_to_and_what_is_unknown_and_left_out() -> None:
    complete, uneven = (found for found in sample().analysis.rungs if found.workload == "A")
    assert notes([complete]) == (
        "Every step has the same blocks, so that the steps add up to the whole by arithmetic, "
        "whatever the cause of each. So a step holds all in which its two deployments differ, "
        "also what nobody has named, and the last one holds what the others leave of the whole.",
    )
    (rest,) = notes([uneven])
    assert rest.startswith("CPU per operation, database hosts: the steps add up to +1.44 µs/op")
    assert rest.endswith("+0.54 µs/op come of that, not of a deployment.")
    told = " ".join(pictures()["rungs-C-t32"].notes)
    assert "+0.54 µs/op come of that, and of what is not known of a step." in told
    assert "no block has valid runs of both docker-host and docker-bridge" in told
    assert "without a valid run that tells it: docker-noisy" in told


def test_without_the_whole_or_without_intervals_the_notes_say_so() -> None:
    complete = sample().analysis.rungs[0]
    few = {"low": None, "high": None, "n": 5}
    whole = complete.whole.model_copy(
        update={"difference": complete.whole.difference.model_copy(update=few)}
    )
    assert notes([complete.model_copy(update={"whole": whole})])[-1] == (
        "Below 6 blocks that have both sides there is no interval."
    )
    unknown = notes([complete.model_copy(update={"unexplained": None})])
    assert "so that the whole is not known" in unknown[0]


def test_deployments_that_add_nothing_have_a_plain_axis() -> None:
    flat = sample().analysis.rungs[0]
    none = flat.whole.difference.model_copy(update={"value": 1e-20, "low": -1e-20, "high": 1e-20})
    steps = tuple(step.model_copy(update={"difference": none}) for step in flat.steps)
    whole = flat.whole.model_copy(update={"difference": none})
    analysis = one(flat.model_copy(update={"steps": steps, "whole": whole}))
    assert ladders(analysis)[0].ladders[0].axis.scale.ticks[-1] == 1.0


def one(found: object) -> Analysis:
    return nothing_measured().model_copy(update={"rungs": (found,)})


def test_a_first_deployment_that_one_metric_lacks_has_no_value_there() -> None:
    service, cpu, *_ = sample().analysis.rungs
    whole = cpu.whole.model_copy(update={"baseline": "docker-host"})
    later = cpu.model_copy(update={"steps": cpu.steps[1:], "whole": whole})
    analysis = nothing_measured().model_copy(update={"rungs": (service, later)})
    rows = dict(ladders(analysis)[0].rows)
    assert rows["native"] == ("", "662 (649 … 675)", "-")
    assert rows["docker-host"] == ("", "-", "18.0 (17.6 … 18.4)")
    assert rows["native → docker-host"][2] == "-"


def test_the_page_draws_each_ladder_and_hatches_what_comes_of_other_blocks() -> None:
    made = sample()
    text = page(made.analysis, made.study, made.plan, made.stays)
    section = re.search(r'<section id="rungs">.*?</section>', text, re.S)
    assert section is not None
    assert section[0].count('class="bars ladder"') == 4
    uneven = sum(bool(found.unexplained) for found in made.analysis.rungs)
    assert section[0].count('class="hatched"') == uneven
    assert '<a href="#rungs">' in text
    without = made.analysis.model_copy(update={"rungs": ()})
    assert "#rungs" not in page(without, made.study, made.plan, made.stays)


def test_paper_has_the_bars_of_the_page() -> None:
    picture = pictures()["rungs-A-t32"]
    for axes, ladder in zip(paint_ladders(picture, {}).axes, picture.ladders, strict=True):
        at = ladder.axis.scale.at
        widths = [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]
        assert widths == pytest.approx([at(bar.end) - at(bar.start) for bar in ladder.rungs])
        assert [label.get_text() for label in axes.get_yticklabels()] == [
            bar.name for bar in ladder.rungs
        ]


def test_the_terminal_has_a_table_for_each_condition_and_nothing_without_a_ladder() -> None:
    console = Console(width=120)
    with console.capture() as seen:
        console.print(*rungs_tables(sample().analysis))
    assert "docker-host → docker-bridge" in seen.get()
    assert list(rungs_tables(nothing_measured())) == []


def test_the_table_has_steps_the_whole_and_the_rest_in_microseconds() -> None:
    made = sample()
    (table,) = (each for each in tables(made.analysis, made.plan) if each.name == "rungs")
    assert table.heads[6:9] == ["difference [µs/op]", "low [µs/op]", "high [µs/op]"]
    kinds = [row[3] for row in table.shown]
    assert kinds[:9] == [*["step"] * 3, "whole", *["step"] * 3, "whole", "the rest"]
    unknown = [row[6] for row in table.shown if row[9] == 0]
    assert unknown == [None, None]
