"""Markdown, as little of it as the reference needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns in which every row is empty are left out."""
    filled = [tuple(row) for row in rows]
    used = [at for at in range(len(titles)) if any(row[at] for row in filled)]
    lines = [[titles[at] for at in used], ["---"] * len(used)]
    lines += [[_cell(row[at]) for at in used] for row in filled]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(text: object) -> str:
    """Text as it is typed."""
    return f"`{text}`"


def codes(texts: Iterable[object]) -> str:
    """Several of them."""
    return ", ".join(map(code, texts))


def paragraph(docstring: str | None) -> str:
    """A docstring without its line breaks; empty lines between paragraphs stay."""
    parts = (docstring or "").strip().split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
