"""Figures put values where their axes say."""

from hypothesis import given
from hypothesis import strategies as st

from dunnage.model.metrics import HEADLINE
from dunnage.report import figures
from dunnage.report.scale import linear, logarithmic
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
    forest = figures.forest(sample().analysis, "throughput")
    zero = forest.scale.at(0)
    for group in forest.groups:
        assert group.band[0] < zero < group.band[1]
        assert group.bound is not None
        assert group.bound[0] < zero < group.bound[1]
        for row in group.rows:
            assert row.low is not None
            assert row.high is not None
            assert row.low <= row.at <= row.high


def test_few_blocks_leave_points_without_intervals() -> None:
    for metric in HEADLINE:
        for group in figures.forest(sample(blocks=3).analysis, metric).groups:
            assert group.bound is None
            assert all(row.low is None and row.high is None for row in group.rows)


def test_a_deeper_quantile_is_further_right_and_a_longer_time_further_up() -> None:
    for tail in figures.tails(sample().analysis):
        assert [at for _, at in tail.x] == sorted(at for _, at in tail.x)
        for line in tail.lines:
            points = [tuple(map(float, point.split(","))) for point in line.points.split()]
            assert points == sorted(points)
            assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_every_run_is_a_dot_inside_its_block() -> None:
    made = sample()
    found = figures.sequels(made.analysis)
    assert sum(len(figure.dots) for figure in found) == len(made.analysis.runs)
    for figure in found:
        blocks = {block: (left, right) for block, left, right in figure.blocks}
        for dot in figure.dots:
            left, right = blocks[dot.run.block]
            assert left < dot.x < right


def test_the_parts_of_a_bar_follow_one_another_without_gaps() -> None:
    for chart in figures.cpu_bars(sample().analysis):
        for _, segments, _ in chart.bars:
            ends = [segment.start + segment.width for segment in segments]
            starts = [segment.start for segment in segments[1:]]
            assert all(abs(end - start) < 0.02 for end, start in zip(ends, starts, strict=False))


def test_nothing_measured_makes_no_figures() -> None:
    empty = nothing_measured()
    assert figures.tails(empty) == figures.sequels(empty) == figures.cpu_bars(empty) == ()
