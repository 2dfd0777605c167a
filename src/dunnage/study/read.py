"""A study file becomes a Study, or every problem in it at once; and what is odd about it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace

from dunnage.errors import Problem, StudyError, shown
from dunnage.model.offer import Offer
from dunnage.model.study import Study
from dunnage.study.brought import with_brought
from dunnage.study.document import EMPTY, Document, read_document
from dunnage.study.doubts import doubts
from dunnage.study.draft import draft, shape
from dunnage.study.grammar import Finding
from dunnage.study.keys import default
from dunnage.study.renewed import outdated, renewed
from dunnage.study.rules import factor_rules, find_mistakes
from dunnage.study.rules_worth import worth_rules


def read_study(text: str, path: str, offer: Offer) -> Study:
    """Read a study file's text and check it against what this Dunnage can do.

    `path` only names the file in messages. Raises StudyError with every problem, in order of line,
    and nothing else for any text.
    """
    return _read(text, path, offer, stored=False)


def read_stored_study(text: str, path: str, offer: Offer) -> Study:
    """Read the study of a result, or one that was made smaller for a try, as `read_study` does.

    What was or is carried out is read, although a new study may not be as large, as long or as
    small any more, and even if no run of its load can be valid.
    """
    return _read(text, path, offer, stored=True)


def _read(text: str, path: str, offer: Offer, *, stored: bool) -> Study:
    written = read_document(text)
    document = replace(written, data=with_brought(renewed(written.data), offer))
    found = _wrong(document, offer, stored=stored)
    if not stored:
        old = {each.path[:1]: each for each in outdated(written.data)}
        found = [each for each in found if each.path[:1] not in old] + list(old.values())
    wrong = [each for each in found if each.path not in document.spoiled]
    told = (_told(document, each) for each in wrong)
    problems = [*document.problems, *told]
    if problems:
        ordered = tuple(sorted(problems, key=lambda problem: problem.line))
        raise StudyError(path, ordered, hint=_next(document, path))
    return Study.model_validate_json(json.dumps(document.data), strict=True)


def odd(text: str, study: Study) -> tuple[Problem, ...]:
    """What is odd about a study of this text, which was read without a problem, line by line."""
    document = read_document(text)
    found = dict.fromkeys(doubts(study))
    told = (_told(document, each) for each in found)
    return tuple(sorted(told, key=lambda problem: problem.line))


def _told(document: Document, found: Finding) -> Problem:
    """A finding with its line. One of a default is nowhere in the file: it is told as such, at the
    mapping that would have the key, or else of the file as a whole."""
    line = document.line(found.path)
    value = default(found.path)
    if not value or found.path in document.lines:
        return Problem(line, found.what, found.hint)
    key = shown(".".join(map(str, found.path)))
    what = f"{found.what}; {key} is not in the file, and its default is {shown(value)}"
    above = any(found.path[:length] in document.lines for length in range(1, len(found.path)))
    return Problem(line if above else 0, what, found.hint)


def _wrong(document: Document, offer: Offer, *, stored: bool) -> list[Finding]:
    data = document.data
    if not isinstance(data, Mapping):
        if document.problems:
            return []
        what = f"a study must be a mapping of keys to values, not {shown(data)}"
        return [Finding((), what)]
    wrong = shape(data, Study, stored=stored)
    factors = data.get("factors")
    if isinstance(factors, Mapping):
        wrong += factor_rules(factors)
    known = {finding.path for finding in wrong}
    usable = draft(data, wrong, stored=stored)
    found = find_mistakes(usable, offer)
    if not stored:
        found += worth_rules(usable)
    return wrong + [each for each in dict.fromkeys(found) if each.path not in known]


def _next(document: Document, path: str) -> str:
    """The next command: write a template for an empty file, else check the file again."""
    problems = {problem.what for problem in document.problems}
    begun = isinstance(document.data, Mapping) or (problems and EMPTY not in problems)
    return f"dunnage plan {shlex.quote(path)}" if begun else "dunnage init"
