"""Parity where processes or networks were not seen: what is compared, and what a verdict means."""

from __future__ import annotations

from typing import Any

from analysis_cases import stay

from dunnage.findings.parity.compare import compare
from dunnage.model.parity import Aspect, Cause, FoundDifference
from dunnage.model.process import UnseenProcess
from dunnage.wording.parity import not_compared, sentence, shown


def unseen(name: str, reason: str = "it runs elsewhere", **changed: Any) -> Any:
    told = UnseenProcess(member="redis-1", role="primary", reason=reason)
    return stay(name, processes=(), unseen=(told,), **changed)


def test_a_process_that_is_not_seen_is_told_as_such_and_not_as_a_difference() -> None:
    for one, other in ((stay(), unseen("b")), (unseen("a"), stay()), (unseen("a"), unseen("b"))):
        (found,) = compare(one, other, set())
        assert (found.aspect, found.cause) == (Aspect.PROCESS, Cause.UNSEEN)
        assert sentence(found) == "primary: process: it runs elsewhere"


def test_what_servers_say_is_compared_where_processes_are_not_seen() -> None:
    found = compare(
        unseen("a", facts={"version": "7.0"}), unseen("b", facts={"version": "7.2"}), ()
    )
    assert [each.cause for each in found] == [Cause.UNSEEN, Cause.UNDECLARED]


def test_a_member_that_only_one_side_has_is_a_difference_though_it_is_not_seen() -> None:
    other = UnseenProcess(member="redis-2", role="replica", reason="it runs elsewhere")
    more = unseen("b").model_copy(update={"unseen": (*unseen("b").unseen, other)})
    found = {each.aspect: each.cause for each in compare(unseen("a"), more, ())}
    assert found == {Aspect.PROCESS: Cause.UNSEEN, Aspect.MEMBER: Cause.UNDECLARED}


def test_what_was_not_compared_is_one_sentence_that_names_whose_processes() -> None:
    between = [
        FoundDifference(deployment=name, baseline="native", difference=each)
        for name in ("docker", "swarm")
        for each in compare(stay(), unseen(name), ())
    ]
    assert not_compared(between) == (
        "Processes of docker and swarm were not compared (it runs elsewhere): a verdict holds only "
        "if they run the same software with the same settings."
    )
    assert shown(between, "native") == ()
    assert not_compared(()) == ""


def on_unread(name: str, why: str = "encapsulation, proxy: no rights") -> Any:
    return stay(name, network={"driver": "unknown: no rights", "unread": why})


def test_a_network_that_nobody_read_back_is_told_as_such_and_not_as_a_difference() -> None:
    sides = ((stay(), on_unread("b")), (on_unread("a"), stay()), (on_unread("a"), on_unread("b")))
    for one, other in sides:
        (found,) = compare(one, other, set())
        assert (found.aspect, found.cause) == (Aspect.NETWORK, Cause.UNSEEN)
        assert sentence(found) == "network: encapsulation, proxy: no rights"
    assert compare(stay(), stay(network={"driver": "bridge"}), set()) == ()


def test_what_verdicts_mean_where_neither_networks_nor_processes_are_known_is_a_sentence_each() -> (
    None
):
    between = [
        FoundDifference(deployment=name, baseline="native", difference=each)
        for name in ("ports", "services")
        for one in (unseen(name), on_unread(name))
        for each in compare(stay(), one, ())
    ]
    assert not_compared(between) == (
        "Processes of ports and services were not compared (it runs elsewhere): a verdict holds "
        "only if they run the same software with the same settings. The network of ports and "
        "services is not known (encapsulation, proxy: no rights): it was not read back, and a "
        "verdict holds for what its cluster had, which may be another than the study names."
    )
    assert shown(between, "native") == ()
