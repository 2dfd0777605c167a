"""A study whose members run where their hosts do not see them: what is missing has its reason."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from faulty import STUDY, Carry, Ended
from hostile import dunnage
from rich.console import Console, RenderableType

from dunnage import catalog
from dunnage.hosts.fake.world import World
from dunnage.model.analysis import Analysis
from dunnage.model.check import Status, Why
from dunnage.model.parity import Aspect, Cause
from dunnage.opened import OpenedResult
from dunnage.platforms.fake import LATE, OUT_OF_SIGHT, FakePlatform
from dunnage.report.page.page import page
from dunnage.report.terminal.brief import brief
from dunnage.report.terminal.text import answer_table

WHY = OUT_OF_SIGHT.reason
BLOCKS = STUDY.replace("blocks: 2", "blocks: 6")
UNJUDGED = {"swap", "steal", "other load", "samples", "throttled"}
NOT_COMPARED = (
    f"Processes of late were not compared ({WHY}): a verdict holds only if they run the same "
    "software with the same settings."
)


class Elsewhere(FakePlatform):
    """Runs members of the network `late` where their hosts do not see them."""

    unseen = frozenset({LATE})


def nothing(_: World) -> None:
    """No fault."""


@pytest.fixture
def ended(carry_out: Carry, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Ended]:
    """Return how to carry a study out where `late` is somewhere else."""
    monkeypatch.setitem(catalog.PLATFORMS, "fake", Elsewhere)
    return partial(carry_out, nothing)


def opened(ended: Ended) -> OpenedResult:
    return OpenedResult(ended.result)


def analysed(ended: Ended) -> Analysis:
    return opened(ended).analysis


def shown(part: RenderableType) -> str:
    """A part on a wide terminal, its lines joined: what is told may be broken anywhere."""
    console = Console(file=io.StringIO(), width=400)
    with console.capture() as captured:
        console.print(part)
    return " ".join(captured.get().split())


def test_runs_count_and_throughput_is_compared(ended: Callable[[str], Ended]) -> None:
    done = ended(BLOCKS)
    assert done.code == 0, done.shown
    assert {record.status for record in done.result.records} == {Status.VALID}
    compared = [found for found in analysed(done).comparisons if found.metric == "throughput"]
    assert {found.deployment for found in compared} == {"late"}
    assert all(found.difference.n == 6 and found.difference.low is not None for found in compared)


def test_results_that_both_do_not_see_it_are_compared_and_it_is_said(
    ended: Callable[[str], Ended], tmp_path: Path
) -> None:
    root, copy = ended(f"{BLOCKS}twin: plain\n").result.layout.root, tmp_path / "copy"
    shutil.copytree(root, copy)
    journal = copy / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"time": 1', '"time": 2'))  # of another day
    compared = dunnage("compare", root, copy)
    assert compared.code == 0, compared.err
    said = " ".join(compared.out.split())
    assert "whether the same software ran with the same settings, as nobody saw it: late" in said


def test_records_hold_the_reason_in_place_of_what_is_not_seen(
    ended: Callable[[str], Ended],
) -> None:
    result = ended(STUDY).result
    for stay in result.stays:
        late = stay.deployment == "late"
        assert bool(stay.processes) is not late
        assert {each.reason for each in stay.unseen} == ({WHY} if late else set())
        members = [each.member for each in stay.unseen]
        members += [each.member for each in stay.processes]
        assert set(members) > {"router-1"}
        assert {path.unknown.endswith(WHY) for path in stay.paths} == {late}
    for record in result.records:
        unjudged = {check.check: check for check in record.checks if check.why is Why.UNSEEN}
        if record.deployment == "plain":
            assert not unjudged
            assert not any(host.unseen for host in record.usage)
            continue
        assert unjudged.keys() == UNJUDGED
        assert {check.status for check in unjudged.values()} == {Status.UNKNOWN}
        assert {reading.value for check in unjudged.values() for reading in check.seen} == {WHY}
        with_members = [host for host in record.usage if host.unseen]
        assert with_members
        for host in with_members:
            assert host.whole.cpu is None
            assert host.absent["cpu"] == WHY
            assert not host.unseen.keys() & host.units.keys()


def test_what_needs_their_processes_is_absent_with_the_reason(
    ended: Callable[[str], Ended],
) -> None:
    analysis = analysed(ended(BLOCKS))
    assert {(each.deployment, each.metric, each.reason) for each in analysis.absent_metrics} == {
        ("late", "cpu.database", WHY),
        ("late", "memory.database", WHY),
    }
    for run in analysis.runs:
        assert ("cpu.database" in run.absent) == (run.deployment == "late")
        assert ("cpu.database" in run.values) == (run.deployment == "plain")
        assert run.checks == ()
    parts = {share.part for share in analysis.shares if share.deployment == "late"}
    assert parts == {"client"}
    lines = [line for line in analysis.timelines if line.deployment == "late"]
    assert lines
    assert all(line.absent["cpu.database"] == WHY for line in lines)
    for each in analysis.conditions:
        if each.deployment == "late":
            assert each.daemons is None
            assert each.absent["throttled"] == each.absent["charged"] == WHY


def test_parity_says_what_it_could_not_compare(ended: Callable[[str], Ended]) -> None:
    analysis = analysed(ended(STUDY))
    found = [each.difference for each in analysis.parity.differences]
    unseen = [each for each in found if each.cause is Cause.UNSEEN]
    assert {each.aspect for each in unseen} == {Aspect.PROCESS}
    assert {(each.baseline, each.deployment) for each in unseen} == {(None, WHY)}
    assert not any(each.aspect is Aspect.MEMBER for each in found)


def test_page_and_terminal_say_it_once_and_where_the_number_would_stand(
    ended: Callable[[str], Ended],
) -> None:
    done = ended(BLOCKS)
    result = opened(done)
    analysis = result.analysis
    whole = shown(answer_table(analysis, result.study, result.plan))
    short = shown(brief(analysis, result.study, result.plan))
    html = page(analysis, result.study, result.plan, done.result.stays)
    for told in (whole, short, html):
        assert told.count(NOT_COMPARED) == 1
        assert f"of late: {WHY}" in told
    assert whole.count(WHY) > 2
    assert "no other difference was found" not in whole
    assert f"cannot be judged in 12 runs: {WHY}" in html
    assert f'title="{WHY}"' in html


def test_a_study_of_none_that_is_seen_has_an_answer_too(
    ended: Callable[[str], Ended],
) -> None:
    done = ended(BLOCKS.replace("network: plain", "network: late, client: container"))
    assert done.code == 0, done.shown
    result = opened(done)
    analysis = result.analysis
    assert analysis.valid == analysis.planned
    assert {gate.unknown for gate in analysis.gates if gate.gate in UNJUDGED} == {analysis.planned}
    whole = shown(answer_table(analysis, result.study, result.plan))
    assert "plain and late were not compared" in whole
    assert whole.count(WHY) > 2


def test_what_is_not_seen_cannot_be_held_still(ended: Callable[[str], Ended]) -> None:
    done = ended(STUDY.replace("network: late", "network: late, slowdown: 5%"))
    assert f"it cannot be held still: {WHY}" in done.shown


def test_a_member_that_died_is_told_as_ever(
    carry_out: Carry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalog.PLATFORMS, "fake", Elsewhere)

    def dies(world: World) -> None:
        world.clock.at(world.clock.now() + 4.0, lambda: kill(world))

    def kill(world: World) -> None:
        for server in tuple(world.servers.values()):
            server.process.signal("KILL")

    done = carry_out(dies)
    assert "died (exit code -9)" in done.shown
