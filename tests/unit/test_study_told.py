"""What `docs/proofs.md` tells of a shipped study besides its differences."""

from __future__ import annotations

import report_samples
from study_told import NO_NUMBER, Publication, agreement, ladders

SAMPLE = report_samples.sample().analysis


def published(figures: dict[str, str], alike: float = 0.0) -> Publication:
    """Deployment → what somebody found, where the sample has a primary comparison of it."""
    told = {
        (one.question, each.deployment, "A"): figures[each.deployment]
        for one in SAMPLE.answers
        for each in one.comparisons
        if each.deployment in figures
    }
    return Publication("a study", told, alike, "its database is another one")


def test_a_ladder_has_its_steps_its_whole_and_what_is_left() -> None:
    told = list(ladders(SAMPLE))
    assert len(told) == len(SAMPLE.rungs)
    assert told[0] == (
        "ladder of service.mean A, µs/op: native 662 (649 … 675, n = 8), then docker-host +33.1 "
        "(+23.2 … +43.0, n = 8), docker-bridge −13.2 (−17.2 … −9.27, n = 8), docker-tuned +33.1 "
        "(+23.2 … +43.0, n = 8); whole +53.0 (+42.4 … +63.6, n = 8), to "
        "which the steps add up by arithmetic, as all have the same blocks"
    )
    assert "docker-bridge not known" in told[2]


def test_signs_and_ranks_are_compared_and_sizes_are_not() -> None:
    theirs = published({"docker-bridge": "-30%", "docker-host": "-10%", "docker-tuned": "+2%"})
    signs, ranks, why = agreement(SAMPLE, theirs)
    assert signs == "signs: 2 of the 3 that are told from zero are as published"
    assert ranks == (
        "ranks of throughput A against native: docker-bridge < docker-host < docker-tuned; "
        "3 of 3 pairs that are apart there are in this order"
    )
    assert why == "a study: its database is another one"


def test_a_rank_that_differs_is_told_beside_the_published_one() -> None:
    _, ranks, _ = agreement(SAMPLE, published({"docker-bridge": "+9%", "docker-host": "-4%"}))
    assert ranks.endswith(
        "docker-bridge < docker-host, published: docker-host < docker-bridge; 0 of 1 pairs that "
        "are apart there are in this order"
    )


def test_what_a_study_found_within_its_own_noise_has_no_sign_and_no_rank() -> None:
    theirs = published({"docker-bridge": "-30%", "docker-host": "-8%", "docker-tuned": "-1%"}, 8)
    signs, near, ranks, _ = agreement(SAMPLE, theirs)
    assert signs == "signs: 1 of the 2 that are told from zero are as published"
    assert near == (
        "no sign of 2 published within 8 %, by which identical baselines of a study differ"
    )
    assert ranks.endswith("2 of 2 pairs that are apart there are in this order")


def test_of_a_study_without_numbers_the_signs_are_compared() -> None:
    signs, ranks, _ = agreement(SAMPLE, published({"docker-bridge": "less", "docker-host": "more"}))
    assert signs == "signs: 1 of the 2 that are told from zero are as published"
    assert ranks.startswith("ranks of throughput A against native: docker-bridge < docker-host")


def test_one_figure_has_no_rank_and_words_have_no_sign() -> None:
    signs, ranks, _ = agreement(SAMPLE, published({"docker-host": "none that recurs"}))
    assert signs == "signs: 0 of the 0 that are told from zero are as published"
    assert ranks == "no ranks: no two deployments have published figures that are apart"


def test_where_nobody_published_anything_this_is_told() -> None:
    assert list(agreement(SAMPLE, None)) == [NO_NUMBER]
