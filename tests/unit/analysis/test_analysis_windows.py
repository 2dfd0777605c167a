"""What a window is given, and what it is refused."""

from __future__ import annotations

import pytest
from analysis_cases import samples
from hypothesis import given
from hypothesis import strategies as st

from dunnage.analysis.windows import soft_interrupts, usage
from dunnage.model.load import Sample, Samples
from dunnage.model.soft_interrupts import SoftInterrupts


def test_counters_are_interpolated_at_both_edges() -> None:
    seen = samples({0.0: {"cpu": 0.0}, 1.0: {"cpu": 1.0}, 2.0: {"cpu": 3.0}, 3.0: {"cpu": 3.0}})
    assert usage(seen, "db", 0.5, 1.0, 0.0).whole.cpu == pytest.approx(2.0 - 0.5)


def test_a_host_whose_clock_is_ahead_is_asked_for_its_own_time() -> None:
    seen = samples({10.0: {"cpu": 0.0}, 11.0: {"cpu": 1.0}, 12.0: {"cpu": 1.0}})
    assert usage(seen, "db", 0.0, 1.0, 10.0).whole.cpu == pytest.approx(1.0)
    assert usage(seen, "db", 1.0, 1.0, 10.0).whole.cpu == pytest.approx(0.0)


@given(st.lists(st.floats(0, 10), min_size=4, max_size=20), st.floats(0.01, 0.99))
def test_neighbouring_windows_add_up_to_the_whole(steps: list[float], cut: float) -> None:
    total, readings = 0.0, {}
    for i, step in enumerate(steps):
        total += step
        readings[float(i)] = {"cpu": total}
    end = float(len(steps) - 1)
    seen = samples(readings)

    def used(began: float, until: float) -> float:
        found = usage(seen, "db", began, until - began, 0.0).whole.cpu
        assert found is not None
        return found

    assert used(0, end * cut) + used(end * cut, end) == pytest.approx(used(0, end))


@pytest.mark.parametrize(("began", "seconds"), [(-0.5, 1.0), (1.5, 1.0), (5.0, 1.0)])
def test_a_window_that_samples_do_not_cover_has_no_value_and_a_reason(
    began: float, seconds: float
) -> None:
    seen = samples({0.0: {"cpu": 0.0}, 1.0: {"cpu": 1.0}, 2.0: {"cpu": 2.0}})
    found = usage(seen, "db", began, seconds, 0.0)
    assert found.whole.cpu is None
    assert "do not cover" in found.absent["cpu"]


def test_a_counter_that_ran_backwards_has_no_value_and_a_reason() -> None:
    seen = samples({0.0: {"cpu": 5.0}, 1.0: {"cpu": 1.0}, 2.0: {"cpu": 2.0}}, unit="redis-1")
    found = usage(seen, "db", 0.0, 2.0, 0.0)
    assert found.units["redis-1"].cpu is None
    assert "backwards" in found.absent["redis-1.cpu"]


def test_memory_is_the_largest_reading_inside_the_window() -> None:
    seen = samples({float(i): {"memory_resident": m} for i, m in enumerate([9, 1, 5, 2, 9])})
    assert usage(seen, "db", 1.0, 2.0, 0.0).whole.memory_resident == 5


def test_what_the_sampler_could_not_see_stays_absent_with_its_reason() -> None:
    machine = {float(i): {"cpu_total": 2.0 * i, "softirq": 0.1 * i} for i in range(3)}
    seen = samples({float(i): {"cpu": 1.0} for i in range(3)}, machine, absent={"softirq": "why"})
    found = usage(seen, "db", 0.0, 2.0, 0.0)
    assert found.machine.softirq is None
    assert found.absent["softirq"] == "why"


def test_machine_shares_are_of_all_processors_time() -> None:
    counters = {"cpu_total": 4.0, "cpu_idle": 2.0, "iowait": 0.4, "steal": 0.2, "softirq": 0.1}
    machine = {t: {name: value * t for name, value in counters.items()} for t in (0.0, 1.0, 2.0)}
    for time, row in machine.items():
        row |= {"pressure_cpu": 0.25 * time, "swap_total": 4096.0}
    found = usage(samples({time: {} for time in machine}, machine), "db", 0.0, 2.0, 0.0).machine
    assert found.steal == pytest.approx(0.05)
    assert found.iowait == pytest.approx(0.1)
    assert found.softirq == pytest.approx(0.025)
    assert found.busy == pytest.approx((4 - 2 - 0.4 - 0.2) / 4)
    assert found.pressure_cpu == pytest.approx(0.25)
    assert found.swap_total == 4096


def test_the_speed_of_a_hosts_processors_is_work_by_the_cpu_time_that_it_took() -> None:
    took = {t: 2.0 * t if t <= 3 else 6.0 + (t - 3.0) for t in map(float, range(7))}
    machine = {t: {"speed_work": 100.0 * t, "speed_cpu": cpu} for t, cpu in took.items()}
    found = usage(samples({t: {} for t in machine}, machine), "db", 0.0, 6.0, 0.0).machine
    assert found.speed == pytest.approx(600 / 9)
    assert found.speed_change == pytest.approx(100 / 50 - 1)
    silent = usage(samples({0.0: {}, 1.0: {}}), "db", 0.0, 1.0, 0.0).machine
    assert (silent.speed, silent.speed_change) == (None, None)


def test_samples_inside_the_window_are_counted_against_those_expected() -> None:
    seen = samples({t: {"cpu": t} for t in (0.0, 1.0, 3.0, 4.0, 5.0)})
    found = usage(seen, "db", 0.5, 4.0, 0.0)
    assert (found.samples, found.expected_samples) == (3, 4)
    assert found.sampler_cpu is not None


def test_no_samples_at_all_give_no_values() -> None:
    found = usage(samples({}), "db", 0.0, 1.0, 0.0)
    assert found.whole.cpu is None and found.sampler_cpu is None and found.samples == 0


def counted(*told: tuple[float, float]) -> Samples:
    """Samples of a machine whose host had so much in soft interrupts at so many seconds."""

    def so_far(used: float) -> SoftInterrupts:
        return SoftInterrupts(
            networks={"db-1": used},
            elsewhere=0.0,
            no_packet=used / 2,
            other_kinds=1.0,
            method="by hand",
        )

    found = tuple(Sample(time, {}, {}, so_far(used)) for time, used in told)
    return Samples("client-1", 1.0, found, own_cpu=(), absent={})


def test_soft_interrupts_are_what_was_charged_from_edge_to_edge() -> None:
    found = soft_interrupts(counted((10.0, 1.0), (11.0, 2.0), (12.0, 4.0)), 0.5, 1.0, 10.0)
    assert found.networks == {"db-1": pytest.approx(1.5)}
    assert (found.elsewhere, found.other_kinds, found.absent) == (0.0, 0.0, "")
    assert found.no_packet == pytest.approx(0.75)
    assert found.method == "by hand"


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (samples({0.0: {}, 2.0: {}}, absent={"soft_interrupts": "no right"}), "no right"),
        (samples({0.0: {}, 2.0: {}}), "nothing was counted"),
        (counted((0.0, 1.0), (0.5, 2.0)), "samples do not cover the measured window"),
        (counted((0.0, 3.0), (0.5, 2.0), (1.0, 4.0)), "ran backwards"),
        (counted((0.0, 1.0), (2.0, 2.0), (1.0, 3.0)), "clock was set back"),
    ],
)
def test_soft_interrupts_that_are_not_known_have_a_reason_and_no_value(
    seen: Samples, why: str
) -> None:
    found = soft_interrupts(seen, 0.0, 1.0, 0.0)
    assert why in found.absent
    assert (found.networks, found.elsewhere, found.other_kinds) == ({}, None, None)
