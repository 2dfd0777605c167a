"""Probes and rates on the page: each where its axes say, with what came of it in words."""

from __future__ import annotations

from dataclasses import replace

from dunnage.findings.saturation.open_levels import open_levels
from dunnage.findings.saturation.searches import searches
from dunnage.model.analysis import Analysis
from dunnage.report.page.page import page
from report_samples import Sample, nothing_measured, sample


def rendered(made: Sample) -> str:
    return page(made.analysis, made.study, made.plan, made.stays, source=made.source)


def without(analysis: Analysis, *fields: str) -> Analysis:
    return analysis.model_copy(update=dict.fromkeys(fields, ()))


def test_every_probe_is_a_point_in_both_figures_and_refused_ones_are_hollow() -> None:
    made = sample()
    probes = [probe for each in made.analysis.searches for probe in each.probes]
    (figure,) = searches(made.analysis)
    answered, latency = figure.figures
    for drawn in figure.figures:
        assert [point.hollow for point in drawn.points] == [not probe.sustained for probe in probes]
        assert [point.x for point in drawn.points] == [probe.offered for probe in probes]
    assert [point.y for point in answered.points] == [probe.achieved for probe in probes]
    assert [point.y for point in latency.points] == [probe.p99 for probe in probes]
    assert "op/s" in answered.y.title and "ms" in latency.y.title
    assert "refused: 90.9 % of the offered rate" in answered.points[1].text


def test_the_rate_found_is_a_line_inside_the_band_of_its_interval() -> None:
    (figure,) = searches(sample().analysis)
    for drawn in figure.figures:
        assert [band.series for band in drawn.bands] == [name for name, _ in figure.rows]
        lines = {line.series: line.places for line in drawn.lines if not line.fitted}
        for band in drawn.bands:
            (left, *_), (right, *_) = (place for place in band.places if place is not None)
            (at, top), (same, bottom) = (place for place in lines[band.series] if place is not None)
            assert left < at == same < right
            assert (bottom, top) == (drawn.y.scale.low, drawn.y.scale.high)
    assert figure.rows[0][1] == ("40,000", "39,200 … 40,800 op/s", "8", "6", "6")


def test_what_a_sustained_rate_keeps_to_is_said_with_its_objective() -> None:
    made = sample().analysis
    (figure,) = searches(made)
    assert "at least 99.0 % of it is answered" in figure.rule
    assert "response time (p99) is at most 10 ms" in figure.rule
    assert "at most 5.0 % below" in figure.rule
    assert figure.limited
    free = tuple(each.model_copy(update={"objective": {}}) for each in made.searches)
    (figure,) = searches(made.model_copy(update={"searches": free}))
    assert not figure.limited
    assert "at most 10 ms" not in figure.rule
    assert not any(line.fitted for line in figure.figures[1].lines)


def test_rates_that_lie_far_apart_stand_on_logarithmic_axes() -> None:
    made = sample().analysis
    (one, *_) = made.searches
    low = one.probes[0].model_copy(update={"offered": 100.0, "achieved": 100.0})
    wide = one.model_copy(update={"probes": (low, *one.probes)})
    (figure,) = searches(made.model_copy(update={"searches": (wide,)}))
    drawn = figure.figures[0]
    first, second, *_ = (drawn.place(point.series, point.x, point.y) for point in drawn.points)
    assert second[0] - first[0] > 50
    assert next(text for text, _ in drawn.x.ticks() if text) == "100"


def test_a_probe_without_response_times_has_no_point_among_them() -> None:
    made = sample().analysis
    unknown = tuple(
        each.model_copy(
            update={"probes": tuple(p.model_copy(update={"p99": None}) for p in each.probes)}
        )
        for each in made.searches
    )
    (figure,) = searches(made.model_copy(update={"searches": unknown}))
    assert len(figure.figures) == 1
    assert {probe.p99 for _, probe, _ in figure.probes} == {None}


def test_a_search_without_an_interval_says_so() -> None:
    made = sample().analysis
    (one, *_) = made.searches
    assert one.found is not None
    bare = one.found.model_copy(update={"low": None, "high": None, "n": 3})
    few = one.model_copy(update={"found": bare})
    (figure,) = searches(made.model_copy(update={"searches": (few,)}))
    assert figure.figures[0].bands == ()
    assert figure.rows[0][1][1] == "no interval"


def test_rates_that_were_too_much_say_how_often_and_that_latencies_are_not_compared() -> None:
    (figure,) = open_levels(sample().analysis)
    told = {(row.level, row.deployment): latencies for row, latencies in figure.rows}
    assert told["s40", "docker-tuned"] == "compared"
    assert told["s90", "docker-tuned"] == "not compared"
    text = rendered(sample())
    assert "no: over capacity in 6 of 8 runs" in text
    assert "94.4 %" in text and 'width="94.44%"' in text and 'class="done" width="100.0%"' in text
    (why,) = figure.why
    assert why.startswith("docker-tuned, 90 % of the baseline's capacity: the backlog grew by")
    assert "by 56 ms in each second" in why
    assert "After 4.0 s the answers were 222 ms late" in why


def test_latencies_beside_a_baseline_over_capacity_are_not_compared_either() -> None:
    made = sample().analysis
    compared = tuple(
        each.model_copy(update={"level": "s90", "baseline": "docker-tuned"})
        for each in made.comparisons
    )
    (figure,) = open_levels(made.model_copy(update={"comparisons": compared}))
    told = {(row.level, row.deployment): latencies for row, latencies in figure.rows}
    assert told["s90", "docker-host"] == "not compared: docker-tuned was over capacity"
    assert told["s40", "docker-host"] == "compared"


def test_the_page_shows_probes_and_rates_before_latencies_and_explains_what_is_left_out() -> None:
    text = rendered(sample())
    assert text.index('id="capacity"') < text.index('id="latency"')
    section = text[text.index('id="capacity"') : text.index('id="latency"')]
    assert section.count("<tr><th scope") >= 36
    assert "sustained" in section and "refused: " in section
    assert "a percentile would show the length of the run" in section
    assert '<a href="#capacity">' in text


def test_where_everybody_kept_up_that_is_said_and_nothing_is_explained() -> None:
    made = sample()
    calm = tuple(each for each in made.analysis.open_levels if not each.over_capacity)
    analysis = made.analysis.model_copy(update={"open_levels": calm})
    text = rendered(replace(made, analysis=analysis))
    assert "Every deployment kept up with every rate" in text
    assert "a percentile would show" not in text


def test_a_study_of_closed_loops_has_nothing_of_it() -> None:
    made = sample()
    analysis = without(made.analysis, "searches", "open_levels")
    text = rendered(replace(made, analysis=analysis))
    assert 'id="capacity"' not in text and "#capacity" not in text
    assert searches(nothing_measured()) == () and open_levels(nothing_measured()) == ()
