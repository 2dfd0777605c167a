"""One value per run and metric, and none where a counter is missing."""

from __future__ import annotations

from typing import Any

import pytest
from analysis_cases import CLOSED, WORKLOAD, host, latency, measurement
from analysis_study import record

from dunnage.analysis.runs import Setting
from dunnage.analysis.values import absent, values
from dunnage.findings.cpu.shares import OUTSIDE, PARTS, shares
from dunnage.model.metrics import METRICS
from dunnage.model.record import MachineUsage, OperationStats, Record, Usage


def test_every_value_is_of_the_table_of_metrics() -> None:
    stats = OperationStats(count=2000, errors={}, service=latency(), response=latency(2))
    seen = measurement(operations={"all": stats, "read": stats, "scan": stats})
    found = values(record(measurement=seen))
    assert found.keys() <= METRICS.keys()
    assert found["throughput"] == 500
    assert found["response.p95"] == pytest.approx(0.006)
    assert found["scan.service.p99.9"] == pytest.approx(0.005)
    assert "update.service.p95" not in found


def test_the_database_is_charged_for_all_its_hosts_and_not_for_the_client() -> None:
    usage = (host("db-1"), host("db-2"), host("client-1", "client", whole=Usage(cpu=99)))
    found = values(record(usage=usage))
    assert found["cpu.database"] == pytest.approx(0.8 / 4000)
    assert found["memory.database"] == 2 * 2**20
    assert found["cpu.client"] == pytest.approx(0.04 / 4000)


def test_a_counter_missing_on_one_host_leaves_the_metric_out() -> None:
    found = values(record(usage=(host("db-1"), host("db-2", whole=Usage()))))
    assert "cpu.database" not in found
    assert "memory.database" not in found
    assert "throughput" in found


@pytest.mark.parametrize("told", ["memory_resident", "host.memory_resident"])
def test_a_metric_is_absent_for_the_reason_that_the_sampler_or_the_window_tells(told: str) -> None:
    lacking = host("db-2", whole=Usage(cpu=1.0), absent={told: "no memory controller"})
    assert absent(record(usage=(host("db-1"), lacking))) == {
        "memory.database": "no memory controller"
    }
    assert absent(record(usage=(host("db-1", absent={told: "not at first"}),))) == {}


def test_a_run_without_measurement_has_no_values() -> None:
    assert values(record(measurement=None)) == {}


def test_operation_types_are_added_where_the_generator_gave_no_total() -> None:
    stats = OperationStats(count=1000, errors={}, service=None, response=None)
    seen = measurement(operations={"read": stats, "update": stats})
    assert values(record(measurement=seen))["throughput"] == 500


def test_the_parts_of_an_operation_add_up_to_all_its_cpu() -> None:
    usage = host(
        whole=Usage(cpu=1.0),
        units={
            "redis-1": Usage(cpu=0.6, cpu_user=0.1, cpu_system=0.3),
            "daemon": Usage(cpu=0.2),
            "sampler": Usage(cpu=0.05),
        },
        sampler_cpu=0.05,
    )
    found = {
        share.part: share.seconds_per_operation * 4000
        for share in shares("native", Setting(WORKLOAD.name, CLOSED.name), [record(usage=(usage,))])
    }
    assert tuple(found) == tuple(part for part in PARTS if part != OUTSIDE)
    assert found["server user"] == pytest.approx(0.15)
    assert found["server system"] == pytest.approx(0.45)
    assert found["daemons"] == pytest.approx(0.2)
    assert found["other"] == pytest.approx(0.15)
    assert found["client"] == pytest.approx(0.04)


def parts_of(*units: tuple[str, Usage], **changed: Any) -> dict[str, float]:
    """Part → CPU seconds of a run on one host with these units."""
    usage = host(whole=Usage(cpu=1.0), units=dict(units), **changed)
    found = shares("native", Setting(WORKLOAD.name, CLOSED.name), [record(usage=(usage,))])
    return {share.part: share.seconds_per_operation * 4000 for share in found}


SERVER = ("redis-1", Usage(cpu=0.6, cpu_user=0.1, cpu_system=0.3))


def test_a_unit_that_does_not_tell_its_cpu_is_not_taken_as_other() -> None:
    daemon = parts_of(SERVER, ("daemon", Usage()))
    assert daemon.keys() == {"server user", "server system", "client"}
    server = parts_of(SERVER, ("redis-2", Usage()), ("daemon", Usage(cpu=0.2)))
    assert server.keys() == {"daemons", "client"}
    assert "other" not in parts_of(SERVER, sampler_cpu=None)
    ours = parts_of(SERVER, ("pause", Usage()), sampler_cpu=0.0)
    assert ours["other"] == pytest.approx(0.4)


def test_without_user_and_system_time_nobody_knows_how_a_servers_cpu_divides() -> None:
    whole = parts_of(("redis-1", Usage(cpu=0.6)), sampler_cpu=0.0)
    assert whole.keys() == {"daemons", "other", "client"}
    assert whole["other"] == pytest.approx(0.4)
    assert "server user" not in parts_of(("redis-1", Usage(cpu=0.6, cpu_user=0.0, cpu_system=0.0)))
    short = parts_of(SERVER, ("redis-2", Usage(cpu=0.004, cpu_user=0.0, cpu_system=0.0)))
    assert short["server user"] == pytest.approx(0.151)
    assert short["server system"] == pytest.approx(0.453)


def test_one_run_that_does_not_know_a_part_makes_it_unknown() -> None:
    known = record(usage=(host(whole=Usage(cpu=1.0), units=dict([SERVER])),))
    other = record(usage=(host(whole=Usage(cpu=1.0), units={"redis-1": Usage(cpu=0.6)}),))
    found = {
        share.part
        for share in shares("native", Setting(WORKLOAD.name, CLOSED.name), [known, other])
    }
    assert found == {"daemons", "other", "client"}


def test_what_one_machine_did_outside_its_hosts_is_a_part_and_in_no_metric() -> None:
    machine = MachineUsage(processors=2.0, busy=0.2)
    usage = (
        host(whole=Usage(cpu=1.0), machine=machine),
        host("client-1", "client", whole=Usage(cpu=0.4), machine=machine),
    )
    run = record(usage=usage, one_machine=True)

    def outside(run: Record) -> list[float]:
        found = shares("native", Setting(WORKLOAD.name, CLOSED.name), [run])
        return [share.seconds_per_operation * 4000 for share in found if share.part == OUTSIDE]

    assert outside(run) == [pytest.approx(0.2 * 2 * 4 - 1.4)]
    assert outside(run.model_copy(update={"one_machine": False})) == []
    assert values(run)["cpu.database"] * 4000 == pytest.approx(1.0)
