"""What `docs/proofs.md` tells of a shipped study besides its differences."""

from __future__ import annotations

import report_samples
from study_told import NO_NUMBER, TRUYEN_2018, Cell, agreement, ladders

SAMPLE = report_samples.sample().analysis


def published(percent: dict[str, str], workload: str = "A") -> dict[Cell, str]:
    """Deployment → what somebody found, where the sample has a primary comparison of it."""
    return {
        (one.question, each.deployment, workload): percent[each.deployment]
        for one in SAMPLE.answers
        for each in one.comparisons
        if each.deployment in percent
    }


def test_a_ladder_has_its_steps_its_whole_and_what_is_left() -> None:
    told = list(ladders(SAMPLE))
    assert len(told) == len(SAMPLE.rungs)
    assert told[0] == (
        "ladder of service.mean A, µs/op: native 662 (649 … 675, n = 8), then docker-host +33.1 "
        "(+23.2 … +43.0, n = 8), docker-bridge −13.2 (−17.2 … −9.27, n = 8), docker-tuned +33.1 "
        "(+23.2 … +43.0, n = 8); whole +53.0 (+42.4 … +63.6, n = 8), unexplained 0"
    )
    assert "docker-bridge not known" in told[2]


def test_signs_and_ranks_are_compared_and_sizes_are_not() -> None:
    theirs = published({"docker-bridge": "-30%", "docker-host": "-10%", "docker-tuned": "+2%"})
    signs, ranks, why = agreement(SAMPLE, theirs)
    assert signs == "signs: 2 of the 3 that are told from zero are as published"
    assert ranks == (
        "ranks of throughput A against native: docker-bridge < docker-host < docker-tuned, "
        "as published"
    )
    assert why == TRUYEN_2018


def test_a_rank_that_differs_is_told_beside_the_published_one() -> None:
    _, ranks, _ = agreement(SAMPLE, published({"docker-bridge": "+9%", "docker-host": "-4%"}))
    assert ranks.endswith("docker-bridge < docker-host, published: docker-host < docker-bridge")


def test_why_a_study_is_not_comparable_is_told_where_nothing_has_a_number() -> None:
    assert list(agreement(SAMPLE, {})) == [NO_NUMBER]
    assert list(agreement(SAMPLE, published({"docker-host": "none that recurs"}))) == [NO_NUMBER]
