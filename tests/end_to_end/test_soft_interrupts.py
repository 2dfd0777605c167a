"""A study that asks for network soft interrupts, and one that cannot have them."""

from __future__ import annotations

import pytest
from faulty import RUNS, STUDY, Carry, Ended, complete

from dunnage.analysis.soft_interrupts import NOT_ASKED
from dunnage.findings.cpu.shares import NETWORK_SOFT
from dunnage.hosts.fake.watch import SOFT_CPU, SOFT_METHOD
from dunnage.hosts.fake.world import World
from dunnage.model.metrics import CHARGED
from dunnage.model.record_versions import RECORD_VERSION
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.opened import OpenedResult
from dunnage.report.page.page import page

ASKED = STUDY.replace("rate: 5Hz}", "rate: 5Hz, soft_interrupts: true}")
QUESTION = ASKED.replace("against: [late]}", "against: [late], metric: soft.bridge}")
WHY = "the process lacks CAP_BPF"


def nothing(_: World) -> None:
    """No fault."""


def refused(world: World) -> None:
    """The kernel lets nobody count."""
    world.uncounted = WHY


def shown(ended: Ended) -> str:
    """The page of a result."""
    opened = OpenedResult(ended.result)
    return page(opened.analysis, opened.study, opened.plan, ended.result.stays)


def parts(ended: Ended) -> set[str]:
    """Parts of the CPU time that are network soft interrupts."""
    shares = OpenedResult(ended.result).analysis.shares
    return {share.part for share in shares if share.part.startswith(NETWORK_SOFT)}


def test_each_run_knows_them_of_client_database_hosts_and_bridge(carry_out: Carry) -> None:
    ended = carry_out(nothing, ASKED)
    assert complete(ended), ended.shown
    for record in ended.result.records:
        found = record.soft_interrupts
        assert record.version == RECORD_VERSION
        assert found is not None and not found.absent
        assert found.method == SOFT_METHOD
        assert found.networks.keys() == {"db-1", "db-2", "db-3", "client-1", BRIDGE}
        assert found.networks["client-1"] == pytest.approx(found.networks[BRIDGE])
    runs = OpenedResult(ended.result).analysis.runs
    assert len(runs) == RUNS
    for run in runs:
        assert set(CHARGED) <= run.values.keys()
        assert run.values["soft.bridge"] == pytest.approx(SOFT_CPU, rel=0.2)
        assert not set(CHARGED) & run.absent.keys()


def test_they_are_parts_of_the_cpu_time_on_the_page(carry_out: Carry) -> None:
    ended = carry_out(nothing, ASKED)
    hosts = ("client", "db-1", "db-2", "db-3", BRIDGE, "elsewhere", "no packet")
    assert parts(ended) == {f"{NETWORK_SOFT}, {name}" for name in hosts}
    html = shown(ended)
    assert f"{NETWORK_SOFT}, {BRIDGE} (inside the others)" in html
    assert "Network soft interrupts are below the bars" in html
    assert "the parts contain it already" in html
    assert f"Not separated here: {NETWORK_SOFT}" not in html


@pytest.mark.parametrize("host", ["db-2", BRIDGE])
def test_a_host_without_a_network_is_named_in_place_of_each_metric(
    carry_out: Carry, host: str
) -> None:
    ended = carry_out(lambda world: world.unread.add(host), ASKED)
    why = f"no network namespace of `{host}` could be read"
    for run in OpenedResult(ended.result).analysis.runs:
        assert dict.fromkeys(CHARGED, why).items() <= run.absent.items()
    assert f"Not separated here: {NETWORK_SOFT}, because {why}." in shown(ended)


def test_a_network_that_begins_in_a_run_is_the_reason_why_that_run_knows_nothing(
    carry_out: Carry,
) -> None:
    ended = carry_out(lambda world: world.begin_network("db-1", after=3), ASKED)
    told = [record.soft_interrupts for record in ended.result.records]
    reasons = [found.absent for found in told if found is not None and found.absent]
    assert len(told) == RUNS
    assert len(reasons) == 1, "before and after it the networks stay as they are"
    assert "began or ended on `db-1`" in reasons[0]


def test_where_threads_take_packets_in_runs_say_so_and_have_no_zeros(carry_out: Carry) -> None:
    def threaded(world: World) -> None:
        world.threaded = True

    ended = carry_out(threaded, ASKED)
    assert complete(ended), ended.shown
    for run in OpenedResult(ended.result).analysis.runs:
        assert not set(CHARGED) & run.values.keys()
        assert all("in no soft interrupt" in run.absent[metric] for metric in CHARGED)


def test_a_question_may_compare_them(carry_out: Carry) -> None:
    ended = carry_out(nothing, QUESTION.replace("blocks: 2", "blocks: 6"))
    analysis = OpenedResult(ended.result).analysis
    (answer,) = analysis.answers
    assert {found.metric for found in answer.comparisons} == {"soft.bridge"}
    assert all(found.difference.low is not None for found in answer.comparisons)


def test_where_the_kernel_lets_nobody_count_runs_are_valid_and_say_why(carry_out: Carry) -> None:
    ended = carry_out(refused, ASKED)
    assert complete(ended), ended.shown
    analysis = OpenedResult(ended.result).analysis
    assert analysis.valid == RUNS
    assert all(dict.fromkeys(CHARGED, WHY).items() <= run.absent.items() for run in analysis.runs)
    assert parts(ended) == set()
    assert f"Not separated here: {NETWORK_SOFT}, because {WHY}." in shown(ended)


def test_a_study_that_does_not_ask_counts_none_and_is_told_how_to(carry_out: Carry) -> None:
    ended = carry_out(nothing)
    assert all(record.soft_interrupts is None for record in ended.result.records)
    assert parts(ended) == set()
    assert f"Not separated here: {NETWORK_SOFT}, because {NOT_ASKED}." in shown(ended)
