"""The network paths of a report: what is drawn, what is said once, and what differs."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from dunnage.findings.paths import sentences
from dunnage.findings.paths.recorded import recorded, ways
from dunnage.model.path import Hop, HopKind, NetworkPath
from dunnage.model.record import StayRecord
from dunnage.report.page.page import page
from dunnage.report.terminal.paths import drawing
from report_paths import paths
from report_samples import HOSTILE, Sample, sample


def rendered(made: Sample) -> str:
    return page(made.analysis, made.study, made.plan, made.stays, source=made.source)


def section(text: str) -> str:
    return text.partition('<section id="paths">')[2].partition("</section>")[0]


def with_paths(made: Sample, stays: dict[str, tuple[NetworkPath, ...]]) -> Sample:
    """The same with other paths in some stays."""
    changed = tuple(
        stay.model_copy(update={"paths": stays.get(stay.stay, stay.paths)}) for stay in made.stays
    )
    return replace(made, stays=changed)


def of(made: Sample, deployment: str) -> list[StayRecord]:
    return [stay for stay in made.stays if stay.deployment == deployment]


def test_members_that_are_reached_alike_are_drawn_once() -> None:
    (way,) = ways(paths("docker-bridge"))
    assert way.members == ("redis-1", "redis-2", "redis-3")
    assert [each.host for each in way.stretches] == ["client-1", "", "db-1"]
    assert sentences.leads(way) == (
        "From client-1 to redis-1 at 10.0.0.1:6379; to redis-2 and redis-3 in the same way"
    )


def test_members_that_are_reached_differently_are_drawn_apart() -> None:
    first, second, _ = paths("docker-bridge")
    other = paths("native")[2]
    broken = second.model_copy(update={"unknown": "no other host has the address"})
    assert [way.members for way in ways((first, broken, other))] == [
        ("redis-1",),
        ("redis-2",),
        ("redis-3",),
    ]


def test_names_and_addresses_are_chance_and_kinds_are_not() -> None:
    made = sample()
    stays = of(made, "docker-bridge")
    found = recorded("docker-bridge", stays)
    assert found is not None
    assert (found.stay, found.differing) == (stays[0].stay, ())
    assert "the others have paths of the same shape" in sentences.others(found)
    other = stays[3].model_copy(update={"paths": paths("native")})
    found = recorded("docker-bridge", [*stays[:3], other, *stays[4:]])
    assert found is not None
    assert found.differing == (other.stay,)
    assert f"1 other stay recorded paths of another shape: `{other.stay}`" in sentences.others(
        found
    )


def test_what_translates_between_hosts_is_no_host() -> None:
    path = paths("native")[0]
    wire = next(number for number, hop in enumerate(path.hops) if hop.kind is HopKind.WIRE)
    router = Hop(kind=HopKind.ROUTER, host="switch", name="lab0")
    rule = Hop(kind=HopKind.TRANSLATION, host="switch", name="DNAT", detail="-A PREROUTING")
    hops = (*path.hops[: wire + 1], router, rule, *path.hops[wire:])
    (way,) = ways((path.model_copy(update={"hops": hops}),))
    assert [sentences.place(each, way) for each in way.stretches] == [
        "client host client-1",
        "between hosts",
        "between hosts: switch",
        "between hosts",
        "database host db-1",
    ]


def test_stays_without_paths_are_left_out() -> None:
    stays = [stay.model_copy(update={"paths": ()}) for stay in of(sample(), "native")]
    assert recorded("native", stays) is None
    found = recorded("native", [*stays[1:], of(sample(), "native")[0]])
    assert found is not None
    assert found.stays == 1


def test_the_page_draws_every_deployments_path_by_host() -> None:
    made = sample()
    shown = section(rendered(made))
    assert shown.count("<article>") == len(made.plan.deployments)
    bridge = shown.partition("<h3>docker-bridge</h3>")[2].partition("</article>")[0]
    places = ("client host client-1", "between hosts", "database host db-1")
    assert [bridge.index(place) for place in places] == sorted(map(bridge.index, places))
    assert bridge.count('<li class="hop">') == len(paths("docker-bridge")[0].hops)
    assert "--to-destination 172.17.0.2:6379" in bridge
    assert 'href="#paths"' in rendered(made)


def test_a_result_of_before_paths_were_read_has_no_such_section() -> None:
    made = sample()
    without = with_paths(made, {stay.stay: () for stay in made.stays})
    assert "Network paths" not in rendered(without)
    assert 'id="paths"' not in rendered(without)


def test_a_path_that_ends_early_says_why_and_what_it_says_is_no_markup() -> None:
    made = sample()
    first = of(made, "native")[0]
    hostile = NetworkPath(
        client=HOSTILE,
        member="redis-1",
        address="10.0.0.1:6379",
        hops=(Hop(kind=HopKind.CLIENT, host=HOSTILE, name=HOSTILE, detail=HOSTILE),),
        unknown=f"nobody listens {HOSTILE}",
    )
    shown = section(rendered(with_paths(made, {first.stay: (hostile,)})))
    assert "The rest of the way is not known: nobody listens" in shown
    assert "<script" not in shown
    assert "<img" not in shown


def drawn(path: NetworkPath) -> list[str]:
    output = io.StringIO()
    console = Console(file=output, width=150, color_system=None, _environ={})
    console.print(drawing(path))
    return [line.rstrip() for line in output.getvalue().splitlines()]


def test_the_terminal_draws_a_line_for_each_hop() -> None:
    path = paths("docker-bridge")[0]
    head, *lines = drawn(path)
    assert head == "From client-1 to redis-1 at 10.0.0.1:6379"
    assert len(lines) == len(path.hops)
    assert lines[:3] == [
        "  client       client-1  client        connects to 10.0.0.1:6379",
        "↓ device       client-1  eth0          10.0.0.9, MTU 1500",
        "↓ wire         -         wire          10.0.0.9 → 10.0.0.1",
    ]
    assert {line.index(path.hops[-1].name) for line in lines[-1:]} == {
        lines[0].index("client  ", 25)
    }


def test_the_terminal_says_why_a_path_ends_and_obeys_no_name() -> None:
    path = paths("native")[0].model_copy(update={"unknown": "lost\x1b[2J"})
    assert drawn(path)[-1] == "The rest of the way is not known: lost\ufffd[2J"
