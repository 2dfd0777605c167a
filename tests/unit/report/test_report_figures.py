"""Figures put values where their axes say."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunnage.drawing.figure import Axis, Band, Figure, Line, Point
from dunnage.drawing.scale import Scale, beyond, linear, logarithmic
from dunnage.findings.conditions.members import held
from dunnage.findings.counters.associations import beside
from dunnage.findings.cpu.bars import cpu_bars
from dunnage.findings.cpu.sentences import charged
from dunnage.findings.cpu.shares import OUTSIDE
from dunnage.findings.differences.forests import forests
from dunnage.findings.scalability.growth import growths
from dunnage.findings.tails.figures import shifts, tails
from dunnage.findings.timeline.figures import times
from dunnage.findings.variance.bars import variance_bars
from dunnage.findings.variance.sequels import sequels
from dunnage.model.accounting import Accounting
from dunnage.model.analysis import Analysis, Share
from dunnage.model.metrics import HEADLINE
from dunnage.report.page.places import MOST, area, down, path
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
    assert [round(tick, 3) for tick in scale.ticks] == [-0.15, -0.1, -0.05, 0.0, 0.05]
    assert [scale.at(tick) for tick in scale.ticks] == [0, 25, 50, 75, 100]


def test_a_scale_is_spaced_as_it_says_inside_its_margins_and_holds_what_lies_outside() -> None:
    tail = Scale(0.9, 0.999, (0.9, 0.99, 0.999), beyond, margin=5.0)
    assert [tail.at(tick) for tick in tail.ticks] == [5, 50, 95]
    assert (tail.at(0.5), tail.at(0.9999)) == (5, 95)


def test_no_values_still_make_an_axis() -> None:
    assert linear([]).ticks
    assert logarithmic([]).ticks


def test_a_forest_holds_its_intervals_its_tolerance_and_what_twins_differ_by() -> None:
    forest = forests(sample().analysis)[0]
    assert (forest.name, forest.sides) == ("differences-throughput", ("worse", "better"))
    scale = forest.axis.scale
    for group in forest.groups:
        assert scale.low < -group.tolerance < 0 < group.tolerance < scale.high
        assert group.twins is not None
        assert group.about.startswith("native ")
        assert "op/s, twins differ by " in group.about
        for row in group.rows:
            seen = row.difference
            assert seen.low is not None
            assert seen.high is not None
            assert scale.low <= seen.low <= seen.value <= seen.high <= scale.high


def test_few_blocks_leave_points_without_intervals() -> None:
    found = forests(sample(blocks=3).analysis)
    assert [forest.metric for forest in found] == list(HEADLINE)
    for forest in found:
        for group in forest.groups:
            assert "not known" in group.about
            assert all(row.difference.low is None for row in group.rows)
            assert all(row.difference.high is None for row in group.rows)


def test_a_deeper_quantile_is_further_right_and_a_longer_time_further_up() -> None:
    for tail in tails(sample().analysis):
        figure = tail.figure
        assert [at for _, at in figure.x.ticks()] == sorted(at for _, at in figure.x.ticks())
        assert [text for text, _ in figure.x.ticks() if text] == [
            "p50",
            "p90",
            "p99",
            "p99.9",
            "p99.99",
        ]
        assert [line.series for line in figure.lines] == [name for name, _ in tail.rows]
        for line in figure.lines:
            places = [figure.place(line.series, *at) for at in line.places if at is not None]
            assert places == sorted(places)
            assert [up for _, up in places] == sorted(up for _, up in places)


def test_differences_along_the_tail_stand_beside_one_another_at_each_quantile() -> None:
    for shift in shifts(sample().analysis):
        figure = shift.figure
        at_median = [point for point in figure.points if point.x == 0.5]
        places = [figure.place(point.series, point.x, point.y)[0] for point in at_median]
        assert [point.series for point in at_median] == list(figure.series)
        steps = [round(b - a, 2) for a, b in pairwise(places)]
        assert set(steps) == {figure.dodge}
        assert figure.zero
        assert figure.y.scale.low <= 0


def test_every_run_is_a_point_inside_its_block() -> None:
    made = sample()
    found = sequels(made.analysis)
    assert sum(len(figure.points) for figure in found) == len(made.analysis.runs)
    blocks = {run.position + 0.5: run.block for run in made.analysis.runs}
    valid = {run.position + 0.5: run.status == "valid" for run in made.analysis.runs}
    for figure in found:
        assert [text for text, _ in figure.x.ticks()] == [str(n + 1) for n in range(8)]
        for point in figure.points:
            shaded = any(first < point.x < last for first, last in figure.shaded)
            assert shaded == (blocks[point.x] % 2 == 1)
            assert point.hollow != valid[point.x]


def test_the_parts_of_a_bar_follow_one_another_without_gaps() -> None:
    analysis = sample().analysis
    for chart in (*cpu_bars(analysis), variance_bars(analysis)):
        assert chart is not None and chart.bars
        for bar in chart.bars:
            ends = [segment.end for segment in bar.segments]
            assert [segment.start for segment in bar.segments] == [0.0, *ends[:-1]]
            assert len(ends) == len(chart.parts)
            assert ends[-1] <= chart.axis.scale.high


def test_nothing_measured_makes_no_figures() -> None:
    empty = nothing_measured()
    for make in (forests, sequels, tails, shifts, growths, times, cpu_bars, beside):
        assert make(empty) == ()
    assert variance_bars(empty) is None


def soft(analysis: Analysis, part: str, accounting: Accounting = Accounting.CONTAINED) -> Share:
    """A part that is soft interrupts."""
    return analysis.shares[0].model_copy(update={"part": part, "accounting": accounting})


@pytest.mark.parametrize(
    ("accounting", "words"),
    [
        (Accounting.CONTAINED, "inside the others"),
        (Accounting.BESIDE, "in the CPU time of no host"),
        (Accounting.UNKNOWN, "perhaps inside the others"),
    ],
)
def test_where_the_kernel_counts_soft_interrupts_stands_beside_their_part(
    accounting: Accounting, words: str
) -> None:
    analysis = sample().analysis
    inner = soft(analysis, "network soft interrupts, client", accounting)
    figure = cpu_bars(analysis.model_copy(update={"shares": (*analysis.shares, inner)}))[0]
    assert figure.below == (f"network soft interrupts, client ({words})",)


@pytest.mark.parametrize(
    ("accounting", "outside", "words"),
    [
        (Accounting.CONTAINED, True, "the parts contain it already"),
        (Accounting.BESIDE, True, "It is in the part “kernel, outside any host”"),
        (Accounting.BESIDE, False, "`cpu.database` lacks the work of receiving packets"),
        (Accounting.UNKNOWN, True, "is not known"),
    ],
)
def test_how_to_read_network_soft_interrupts_depends_on_where_the_kernel_counts_them(
    accounting: Accounting, outside: bool, words: str
) -> None:
    analysis = sample().analysis
    assert charged(analysis) == ""
    shares = [*analysis.shares, soft(analysis, "network soft interrupts, client", accounting)]
    if outside:
        shares.append(analysis.shares[0].model_copy(update={"part": OUTSIDE}))
    told = charged(analysis.model_copy(update={"shares": tuple(shares)}))
    assert words in told
    assert ("outside any host" in told) is (outside and accounting is Accounting.BESIDE)


def test_soft_interrupts_that_are_more_than_all_the_cpu_time_fit_on_the_axis() -> None:
    analysis = sample().analysis
    much = soft(analysis, "network soft interrupts, elsewhere").model_copy(
        update={"seconds_per_operation": 1.0}
    )
    figure = cpu_bars(analysis.model_copy(update={"shares": (*analysis.shares, much)}))[0]
    assert all(each.end <= figure.axis.scale.high for bar in figure.bars for each in bar.below)


def test_what_the_others_contain_is_not_stacked_upon_them() -> None:
    analysis = sample().analysis
    inner = soft(analysis, "soft interrupts")
    shares = (*analysis.shares, inner)
    before = cpu_bars(analysis)[0]
    after = cpu_bars(analysis.model_copy(update={"shares": shares}))[0]
    assert [bar.total for bar in after.bars] == [bar.total for bar in before.bars]
    assert after.parts == before.parts
    assert after.below == ("soft interrupts (inside the others)",)
    assert set(after.below) < set(after.columns)
    assert any(bar.below for bar in after.bars)


def test_what_the_others_contain_lies_side_by_side() -> None:
    analysis = sample().analysis
    inner = [
        soft(analysis, part)
        for part in ("network soft interrupts, bridge", "network soft interrupts, db-1")
    ]
    (bar, *_) = cpu_bars(analysis.model_copy(update={"shares": (*analysis.shares, *inner)}))[0].bars
    assert [segment.part for segment in bar.below] == [share.part for share in inner]
    assert bar.below[1].start == bar.below[0].end < bar.below[1].end


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
        assert len(growth.figures) == 2
        for figure in growth.figures:
            for point in figure.points:
                assert point.high is not None and point.low is not None
                assert point.low <= point.y <= point.high <= figure.y.scale.high
            first = [point.x for point in figure.points if point.series == "native"]
            assert first == [1, 2, 4, 8, 16, 32, 64, 128]
        assert {len(fit.figure.lines) for fit in growth.fits} == {2}
        assert all(fit.figure.bands for fit in growth.fits)


def test_all_fits_in_one_figure_are_those_of_every_deployment_on_the_same_axes() -> None:
    for growth in growths(sample().analysis):
        alone = [fit.figure for fit in growth.fits]
        together = growth.fitted
        assert growth.title == together.name.replace("scalability-", "Workload ")
        assert together.lines == tuple(line for figure in alone for line in figure.lines)
        assert together.bands == tuple(band for figure in alone for band in figure.bands)
        assert together.points == tuple(point for figure in alone for point in figure.points)
        assert {figure.x.scale for figure in alone} == {together.x.scale}
        assert {figure.y for figure in alone} == {together.y}


def test_panels_of_a_time_line_share_their_axis_and_break_where_nothing_is_known() -> None:
    for figure in times(sample().analysis):
        panels = figure.panels.figures
        assert len(panels) == 5
        assert len({tuple(panel.x.ticks()) for panel in panels}) == 1
        for panel in panels:
            assert panel.shaded == ((-1.0, 0.0),)
            assert [band.series for band in panel.bands] == [line.series for line in panel.lines]
            assert all(path(panel, line).count("M") == 2 for line in panel.lines)
        assert all(len(cells) == len(figure.columns) for _, cells in figure.rows)


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
    column = found.columns.index("Sampler, CPU s")
    assert [cells[column] for _, cells in found.rows] == ["0.25", "1.50"]


def ten(*lines: Line, bands: tuple[Band, ...] = (), dodge: float = 0.0) -> Figure:
    """From 0 to 10 on both axes."""
    axis = Axis("", linear([0.0, 10.0]), str)
    points = tuple(Point(name, 5.0, 5.0, "") for name in ("a", "b"))
    return Figure("", "", axis, axis, lines, bands, points, dodge=dodge)


def test_a_line_breaks_where_a_value_is_missing_and_a_ribbon_closes() -> None:
    line = Line.through("a", [0.0, 1.0, 2.0, 3.0], [9.0, 8.0, None, 6.0])
    band = Band.between("a", [0.0, 1.0, 2.0], [1.0, 2.0, None], [3.0, 4.0, 5.0])
    assert path(ten(), line) == "M0,100L100,200M300,400"
    assert area(ten(), band) == "M0,700L100,600L100,800L0,900Z"
    assert path(ten(), Line("a", (None,))) == path(ten(), Line("a", ())) == ""


def test_the_page_draws_no_more_places_than_a_screen_can_show() -> None:
    many = [10 * step / 1000 for step in range(1000)]
    drawn = path(ten(), Line.through("a", many, many))
    assert 90 <= drawn.count(",") <= MOST


def test_a_peak_of_one_place_is_drawn_however_many_there_are() -> None:
    at = [10 * step / 1000 for step in range(1000)]
    values = [5.0] * 1000
    values[503], values[-1] = 9.0, 1.0
    drawn = path(ten(), Line.through("a", at, values))
    assert "503,100" in drawn
    assert drawn.endswith("999,900")


def test_lines_stand_apart_with_the_points_of_their_series() -> None:
    figure = ten(dodge=2.0)
    assert [figure.place(name, 5.0, 5.0) for name in ("a", "b")] == [(49.0, 50.0), (51.0, 50.0)]
    assert path(figure, Line("b", ((5.0, 5.0),))) == "M510,500"
    assert down(figure.y, 10.0) == 0.0


def test_texts_that_would_touch_the_one_before_are_left_out() -> None:
    axis = Axis("", Scale(0.0, 100.0, (0.0, 10.0, 30.0, 45.0)), "{:g}".format, room=20.0)
    assert axis.ticks() == (("0", 0.0), ("", 10.0), ("30", 30.0), ("", 45.0))
