"""Sentences of others that differ in figures and names are drawn together."""

import pytest

from dunnage.wording.alike import grouped, merged


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (["1,204 of 9", "87 of 9"], "87 to 1,204 of 9"),
        (["by +52.0 %", "by -60.1 %"], "by -60.1 to +52.0 %"),
        (["to 10.0.0.2", "to 10.0.0.1"], "to 10.0.0.1, 10.0.0.2"),
        (["on a-1", "on a-2", "on a-3", "on a-4", "on a-5"], "on a-1, a-2, a-3 and 2 more"),
        (["x86 of sha256 4f", "x86 of sha256 4f"], "x86 of sha256 4f"),
    ],
)
def test_figures_become_ranges_and_names_lists(texts: list[str], one: str) -> None:
    assert merged(texts) == one


def test_the_most_frequent_sentence_comes_first() -> None:
    assert grouped(["no disk", "lost db-1", "lost db-2"]) == (
        (2, "lost db-1, db-2"),
        (1, "no disk"),
    )
