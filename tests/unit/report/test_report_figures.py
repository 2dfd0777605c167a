"""Figures put values where their axes say."""

from hypothesis import given
from hypothesis import strategies as st

from dunnage.drawing.plot import area, path
from dunnage.drawing.scale import linear, logarithmic
from dunnage.findings.conditions.members import held
from dunnage.findings.counters.associations import beside
from dunnage.findings.cpu.bars import cpu_bars
from dunnage.findings.differences import forests
from dunnage.findings.scalability.growth import growths
from dunnage.findings.tails.figures import shifts, tails
from dunnage.findings.timeline.figures import times
from dunnage.findings.variance.bars import variance_bars
from dunnage.model.metrics import HEADLINE
from report_samples import nothing_measured, sample

FINITE = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)
POSITIVE = st.floats(min_value=1e-6, max_value=1e6, allow_nan=False)


@given(st.lists(FINITE, min_size=1, max_size=20))
def test_a_linear_axis_holds_all_its_values_and_few_ticks(values: list[float]) -> None:
    scale = linear(values)
    slack = 1e-6 * max(1.0, *map(abs, values))
    assert scale.low - slack <= min(values)
    assert max(values) <= scale.high + slack
    assert 2 <= len(scale.ticks) <= 8
    assert all(0 <= scale.at(value) <= 100 for value in values)


@given(st.lists(POSITIVE, min_size=1, max_size=20))
def test_a_logarithmic_axis_holds_all_its_values_in_their_order(values: list[float]) -> None:
    scale = logarithmic(values)
    assert scale.low <= min(values) * 1.00001
    assert max(values) <= scale.high * 1.00001
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)


def test_ticks_are_round_and_lie_where_their_values_do() -> None:
    scale = linear([0.0, 0.03, -0.118])
    assert [round(tick.value, 3) for tick in scale.ticks] == [-0.15, -0.1, -0.05, 0.0, 0.05]
    assert [tick.at for tick in scale.ticks] == [0, 25, 50, 75, 100]


def test_no_values_still_make_an_axis() -> None:
    assert linear([]).ticks
    assert logarithmic([]).ticks


def test_an_interval_lies_around_its_point_and_the_band_around_zero() -> None:
    forest = forests.forest(sample().analysis, "throughput")
    zero = forest.scale.at(0)
    for group in forest.groups:
        assert group.band[0] < zero < group.band[1]
        assert group.twins is not None
        assert group.twins[0] < zero < group.twins[1]
        assert group.twins_text.startswith("twins differ by ")
        for row in group.rows:
            assert row.low is not None
            assert row.high is not None
            assert row.low <= row.at <= row.high
            assert len(row.blocks) == row.comparison.difference.n


def test_few_blocks_leave_points_without_intervals() -> None:
    for metric in HEADLINE:
        for group in forests.forest(sample(blocks=3).analysis, metric).groups:
            assert group.twins is None and "not known" in group.twins_text
            assert all(row.low is None and row.high is None for row in group.rows)


def test_a_deeper_quantile_is_further_right_and_a_longer_time_further_up() -> None:
    for tail in tails(sample().analysis):
        assert [at for _, at in tail.plot.x] == sorted(at for _, at in tail.plot.x)
        assert len(tail.plot.curves) == len(tail.rows)
        for curve in tail.plot.curves:
            points = [tuple(map(float, p.split(","))) for p in curve.path[1:].split("L")]
            assert points == sorted(points)
            assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_every_run_is_a_dot_inside_its_block() -> None:
    made = sample()
    found = forests.sequels(made.analysis)
    assert sum(len(figure.dots) for figure in found) == len(made.analysis.runs)
    for figure in found:
        blocks = {block: (left, right) for block, left, right in figure.blocks}
        for dot in figure.dots:
            left, right = blocks[dot.run.block]
            assert left < dot.x < right


def test_the_parts_of_a_bar_follow_one_another_without_gaps() -> None:
    analysis = sample().analysis
    for chart in (*cpu_bars(analysis), variance_bars(analysis)):
        assert chart is not None and chart.bars
        for bar in chart.bars:
            ends = [segment.start + segment.width for segment in bar.segments]
            starts = [segment.start for segment in bar.segments[1:]]
            assert all(abs(end - start) < 0.02 for end, start in zip(ends, starts, strict=False))


def test_nothing_measured_makes_no_figures() -> None:
    empty = nothing_measured()
    assert forests.sequels(empty) == ()
    assert tails(empty) == shifts(empty) == growths(empty) == times(empty) == ()
    assert cpu_bars(empty) == beside(empty) == ()
    assert variance_bars(empty) is None


def test_what_the_others_contain_is_not_stacked_upon_them() -> None:
    analysis = sample().analysis
    inner = analysis.shares[0].model_copy(update={"part": "soft interrupts", "contained": True})
    shares = (*analysis.shares, inner)
    before = cpu_bars(analysis)[0]
    after = cpu_bars(analysis.model_copy(update={"shares": shares}))[0]
    assert [bar.total for bar in after.bars] == [bar.total for bar in before.bars]
    assert after.parts == before.parts
    assert after.contained == ("soft interrupts",)
    assert any(bar.contained for bar in after.bars)


def test_a_part_that_is_not_known_is_said_and_the_total_is_not_all() -> None:
    analysis = sample().analysis
    bars = {bar.name: bar for bar in cpu_bars(analysis)[0].bars}
    assert bars["native"].total.startswith("≥ ")
    assert not bars["docker-host"].total.startswith("≥ ")
    rows = dict(cpu_bars(analysis)[0].rows)
    daemons = cpu_bars(analysis)[0].columns.index("daemons")
    assert rows["native"][daemons] == "not known"
    assert rows["native"][-1].startswith("≥ ")


def test_points_of_a_growing_load_lie_inside_their_intervals_and_in_the_order_of_threads() -> None:
    for growth in growths(sample().analysis):
        assert len(growth.plots) == 2
        for plot in growth.plots:
            for mark in plot.marks:
                assert mark.high is not None and mark.low is not None
                assert mark.high <= mark.y <= mark.low
            first = [mark.x for mark in plot.marks if mark.series == "native"]
            assert first == sorted(first)
            assert len(first) == 8
        assert {len(fit.plot.curves) for fit in growth.fits} == {2}
        assert all(fit.plot.bands for fit in growth.fits)


def test_panels_of_a_time_line_share_their_axis_and_break_where_nothing_is_known() -> None:
    for figure in times(sample().analysis):
        assert len(figure.panels) == 5
        assert len({tuple(at for _, at in panel.x) for panel in figure.panels}) == 1
        assert [panel.x_title != "" for panel in figure.panels] == [False] * 4 + [True]
        for panel in figure.panels:
            assert panel.shaded is not None
            assert all(curve.path.count("M") == 2 for curve in panel.curves)
        assert all(len(row.cells) == len(figure.columns) for row in figure.rows)


def test_a_counter_that_the_baseline_lacks_has_no_place_on_a_relative_axis() -> None:
    rows = [row for pair in beside(sample().analysis) for row in pair.rows]
    assert {row.at for row in rows if row.title == "Retransmissions"} == {None}
    assert all(pair.still == ("Throttled by a quota",) for pair in beside(sample().analysis))
    assert all(row.at is not None for row in rows if row.title == "Packets")
    assert [row.clear for row in beside(sample().analysis)[0].rows] == [True, True, True, False]


def test_what_was_held_back_is_the_worst_of_every_condition() -> None:
    found = held(sample().analysis)
    assert found is not None
    assert [name for name, _ in found.rows] == ["native", "docker-bridge"]
    assert {cells for _, cells in found.rows} == {
        ("0.0 %", "0 B", "36.2 MiB", "64.0 KiB", "4.0 %", "1.1 %", "-")
    }
    assert found.absent == ("native, docker-bridge: daemons: the sampler saw no daemon",)
    assert held(nothing_measured()) is None


def test_what_watching_took_is_the_most_of_every_condition() -> None:
    made = sample().analysis
    seen = zip(made.conditions, (0.034, 0.25, 1.5, 0.7), strict=True)
    watched = tuple(each.model_copy(update={"sampler": took}) for each, took in seen)
    found = held(made.model_copy(update={"conditions": watched}))
    assert found is not None
    column = found.titles.index("Sampler, CPU s")
    assert [cells[column] for _, cells in found.rows] == ["0.25", "1.50"]


def test_a_line_breaks_where_a_value_is_missing_and_a_ribbon_closes() -> None:
    assert path([(0.0, 1.0), (1.0, 2.0), None, (3.0, 4.0)]) == "M0,10L10,20M30,40"
    assert area([(0.0, 1.0), None], [(0.0, 2.0), (1.0, 2.0)]) == "M0,10L0,20Z"
