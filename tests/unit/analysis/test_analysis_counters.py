"""Counters and tails beside a difference: known ones come back, what is not known says so."""

from __future__ import annotations

from typing import Any

import pytest
from analysis_cases import deployment, host, latency, measurement
from analysis_study import STUDY, plan, record

from dunnage.analysis.gather import Gathered, gather
from dunnage.analysis.runs import Setting
from dunnage.findings.counters.counters import absent, associations
from dunnage.findings.cpu.shares import PARTS, SOFT, shares
from dunnage.findings.differences.comparisons import Comparisons
from dunnage.findings.differences.scope import Scope
from dunnage.findings.tails.quantiles import latency_differences
from dunnage.model.accounting import Accounting
from dunnage.model.record import HostUsage, MachineUsage, OperationStats, Record, Usage

SETTING = Setting("A", "t8")


def usage(packets: float, **changed: Any) -> tuple[HostUsage, ...]:
    whole = Usage(
        cpu=0.4,
        received=1e6,
        sent=1e6,
        packets_received=packets / 2,
        packets_sent=packets / 2,
        throttled=0.0,
    )
    known: dict[str, Any] = {
        "whole": whole,
        "machine": MachineUsage(processors=2, softirq=0.1, iowait=0.01),
    }
    one = host("db-1", **(known | changed))
    return (one, host("client-1", "client", whole=Usage(cpu=9.0, packets_sent=1e9)))


def runs(extra: float = 0.0, count: int = 4000, tail: float = 1.0) -> list[Record]:
    """Docker moves `extra` packets an operation more, and its p99 takes `tail` times as long."""
    made = []
    for planned in plan().runs():
        docker = planned.deployment == "docker"
        times = latency(1 + 0.01 * planned.block, count)
        if docker:
            slower = dict(times.quantiles) | {"p99": times.quantiles["p99"] * tail}
            times = times.model_copy(update={"quantiles": slower})
        stats = OperationStats(count=count, errors={}, service=times, response=None)
        made.append(
            record(
                run=planned.id,
                stay=f"b{planned.block}-{planned.deployment}",
                block=planned.block,
                deployment=planned.deployment,
                position=planned.position,
                measurement=measurement(operations={"all": stats, "read": stats}),
                usage=usage((2 + 0.1 * planned.block + (extra if docker else 0)) * count),
            )
        )
    return made


def gathered(records: list[Record]) -> Gathered:
    return gather(plan(), records, {})


def compared(records: list[Record]) -> Comparisons:
    known = gathered(records)
    return Comparisons(Scope(STUDY, plan(), known), known)


def test_packets_an_operation_are_paired_inside_blocks() -> None:
    found = {a.counter: a for a in associations(gathered(runs(0.5)), "native", "docker", SETTING)}
    packets = found["packets"]
    assert packets.difference.value == pytest.approx(0.5)
    assert packets.difference.low == pytest.approx(0.5) and packets.difference.n == 8
    assert packets.baseline_value.value == pytest.approx(2.45)
    assert (packets.unit, packets.machine) == ("packets/op", False)
    assert found["network"].value.value == pytest.approx(2e6 / 4000)
    assert found["throttled"].difference.value == 0
    assert "disk" not in found and "steal" not in found


def test_where_hosts_are_one_machine_its_counters_are_called_the_machines() -> None:
    shared = [each.model_copy(update={"one_machine": True}) for each in runs()]
    found = {a.counter: a for a in associations(gathered(shared), "native", "docker", SETTING)}
    assert found["softirq"].machine and found["softirq"].value.value == pytest.approx(0.1)
    apart = {a.counter: a for a in associations(gathered(runs()), "native", "docker", SETTING)}
    assert not apart["softirq"].machine


def test_a_counter_that_one_run_lacks_is_left_out() -> None:
    made = runs()
    made[0] = made[0].model_copy(update={"usage": usage(1.0, whole=Usage(cpu=0.4))})
    which = made[0].deployment
    other = "docker" if which != "docker" else "native"
    names = {a.counter for a in associations(gathered(made), other, which, SETTING)}
    assert "packets" not in names and "softirq" in names


def test_what_could_not_be_attributed_keeps_its_reason() -> None:
    why = "hosts of a lab share the machine's counters"
    lab = usage(1.0, absent={"host.softirq": why, "pause": "its control group did not exist"})
    found = {each.name: each for each in absent([record(usage=lab)])}
    assert found["softirq"].reason == found[SOFT].reason == why
    assert found["softirq"].hosts == ("db-1",)
    assert "pause" not in found
    assert "does not count context switches" in found["switches"].reason


def test_soft_interrupts_are_a_part_of_their_own_only_where_a_host_is_a_machine() -> None:
    made = [record(block=block, usage=usage(1.0)) for block in range(1, 7)]
    every = shares("docker", SETTING, made, made, Accounting.CONTAINED)
    parts = {share.part: share for share in every}
    assert parts[SOFT].accounting is Accounting.CONTAINED
    assert parts[SOFT].seconds_per_operation == pytest.approx(0.1 * 2 * 4 / 4000)
    assert SOFT not in PARTS and not any(parts[part].accounting for part in PARTS if part in parts)
    shared = [each.model_copy(update={"one_machine": True}) for each in made]
    assert SOFT not in {share.part for share in shares("docker", Setting("A", "t8"), shared)}


@pytest.mark.parametrize("accounting", [Accounting.BESIDE, Accounting.UNKNOWN])
def test_where_a_kernel_times_them_nobody_knows_whether_a_machine_has_them_in_its_parts(
    accounting: Accounting,
) -> None:
    """Its control group of all processes has them under version 2 and not under version 1."""
    made = [record(block=block, usage=usage(1.0)) for block in range(1, 7)]
    found = shares("docker", SETTING, made, made, accounting)
    assert [share.accounting for share in found if share.part == SOFT] == [Accounting.UNKNOWN]


def test_a_part_has_its_interval_and_its_difference_from_the_baseline() -> None:
    base = [record(block=b, usage=usage(1, whole=Usage(cpu=0.4 + b / 100))) for b in range(1, 8)]
    more = [record(block=b, usage=usage(1, whole=Usage(cpu=0.6 + b / 100))) for b in range(1, 8)]
    parts = {share.part: share for share in shares("docker", Setting("A", "t8"), more, base)}
    apart = parts["other"].difference
    assert apart is not None and apart.value == pytest.approx(0.2 / 4000)
    assert apart.low == pytest.approx(0.2 / 4000) and apart.unit == "s/op"
    estimate = parts["other"].estimate
    assert estimate is not None and estimate.low is not None
    assert estimate.low < parts["other"].seconds_per_operation
    assert shares("native", Setting("A", "t8"), base)[0].difference is None


def test_quantiles_differ_where_they_were_made_to_and_nowhere_else() -> None:
    (found,) = latency_differences(
        compared(runs(count=40_000, tail=1.5)),
        "native",
        "docker",
        SETTING,
        ("service", "response"),
    )
    apart = {each.quantile: each.difference for each in found.quantiles}
    assert apart["p99"].value == pytest.approx(0.5)
    assert all(apart[name].value == pytest.approx(0) for name in ("p50", "p90", "p95", "p99.9"))
    assert "simultaneous over 5" in apart["p50"].method
    assert found.left_out == {}


def test_a_quantile_with_too_few_operations_beyond_it_is_left_out_and_says_so() -> None:
    (found,) = latency_differences(compared(runs()), "native", "docker", SETTING, ("service",))
    assert [each.quantile for each in found.quantiles] == ["p50", "p90", "p95", "p99"]
    assert "only 4000 operations, 4 of them" in found.left_out["p99.9"]


def test_a_twin_is_compared_as_well() -> None:
    assert deployment("twin", twin_of="native").twin_of == "native"
    assert latency_differences(compared(runs()), "native", "twin", SETTING, ("service",))
