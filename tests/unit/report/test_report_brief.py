"""The answer that a terminal's page holds: everything that decides, in forty lines."""

from __future__ import annotations

import pytest
from test_report_text import shown

from dunnage.model.analysis import Verdict
from dunnage.report.terminal.brief import ROWS, brief
from dunnage.report.terminal.text import answer_table
from dunnage.wording import numbers, terms
from report_samples import HOSTILE, nothing_measured, sample


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("blocks", [3, 8])
def test_it_fits_forty_lines(width: int, blocks: int) -> None:
    made = sample(blocks)
    lines = shown(brief(made.analysis, made.study, made.plan), width).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [30, 40, 50, 60])
def test_a_narrow_terminal_shows_every_number_with_its_name(width: int) -> None:
    made = sample()
    output = shown(brief(made.analysis, made.study, made.plan), width)
    whole = " ".join(output.split())
    for comparison in made.analysis.answers[0].comparisons:
        found = comparison.difference
        assert " ".join(numbers.seen(found).split()) in whole
        assert " ".join(numbers.interval(found).split()) in whole
        assert comparison.deployment in whole
    assert max(map(len, output.splitlines())) <= width
    assert "…\n" not in output


def test_a_quick_try_advises_no_more_of_its_blocks() -> None:
    made = sample(3)
    assert "--blocks" in shown(brief(made.analysis, made.study, made.plan))
    assert "--blocks" not in shown(brief(made.analysis, made.study, made.plan, scale=0.1))
    assert "--blocks" not in shown(answer_table(made.analysis, made.study, made.plan, scale=0.1))


def test_every_comparison_that_decides_is_on_a_line_settled_ones_first() -> None:
    made = sample()
    output = shown(brief(made.analysis, made.study, made.plan), 120)
    first = made.analysis.answers[0]
    places = []
    for comparison in first.comparisons:
        found = comparison.difference
        line = next(
            (at, line)
            for at, line in enumerate(output.splitlines())
            if numbers.interval(found) in line
            and f"{comparison.workload}, {terms.level(comparison.level)}" in line
            and comparison.deployment in line
        )
        assert terms.mark(comparison.verdict) in line[1]
        assert numbers.seen(found) in line[1]
        places.append((line[0], comparison.verdict is Verdict.INCONCLUSIVE))
    assert [open_ for _, open_ in sorted(places)] == sorted(open_ for _, open_ in places)


def test_more_comparisons_than_fit_are_counted() -> None:
    made = sample()
    first = made.analysis.answers[0]
    many = first.model_copy(update={"comparisons": first.comparisons * 4})
    analysis = made.analysis.model_copy(update={"answers": (many, *made.analysis.answers[1:])})
    output = shown(brief(analysis, made.study, made.plan))
    total = sum(len(each.comparisons) for each in analysis.answers)
    assert f"and {total - ROWS} more comparisons" in output


def test_secondary_comparisons_are_left_to_the_details() -> None:
    made = sample()
    first = made.analysis.answers[0]
    aside = tuple(each.model_copy(update={"primary": False}) for each in first.comparisons)
    answers = (first.model_copy(update={"comparisons": aside}), *made.analysis.answers[1:])
    analysis = made.analysis.model_copy(update={"answers": answers})
    output = shown(brief(analysis, made.study, made.plan))
    assert f"{first.question}  " not in output
    assert "--details" in output


def test_twins_that_were_told_apart_are_named_with_how_far() -> None:
    made = sample()
    alike = shown(brief(made.analysis, made.study, made.plan), 200)
    assert "no difference was found between two identical deployments" in alike
    one, *others = made.analysis.twin
    twin = (one.model_copy(update={"apart": 0.0129}), *others)
    told = shown(brief(made.analysis.model_copy(update={"twin": twin}), made.study, made.plan), 200)
    place = f"{terms.phrase(one.metric)}, {one.workload}, {terms.level(one.level)}: 1.2 %"
    assert f"two identical deployments differ, at least by ({place})" in told


def test_nothing_measured_and_hostile_names_are_shown_as_they_are() -> None:
    made = sample()
    assert "No comparison could be made" in shown(
        brief(nothing_measured(), made.study, made.plan, ("no dockerd on db-1",))
    )
    named = made.analysis.model_copy(update={"study": f"\x1b[31m{HOSTILE}"})
    assert "\x1b" not in shown(brief(named, made.study, made.plan))
