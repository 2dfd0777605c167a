"""Helping a user who mistyped a word."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was probably meant to be, or None."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = get_close_matches(word[:200].casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def hint(word: str, known: Iterable[str], *, most: int = 12) -> str:
    """Return `did you mean …?` if a known word is near, and the list of those that are known."""
    candidates = list(known)
    guess = nearest(word, candidates)
    asked = f"did you mean `{guess}`?" if guess else ""
    if guess and len(candidates) > most:
        return asked
    return f"{asked} known: {listed(candidates, most=most)}".strip()


def listed(words: Iterable[str], *, most: int = 12) -> str:
    """Return words in backticks with commas, shortened after `most` of them."""
    all_words = list(words)
    shown = ", ".join(f"`{word}`" for word in all_words[:most])
    return f"{shown}, …" if len(all_words) > most else shown or "none"
