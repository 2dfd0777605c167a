"""YAML text as plain data, with the line of every key and item.

Only words, numbers, truth values, lists and mappings come out: tags that make objects are refused,
and depth, size and repeated aliases are bounded, so that no text can do harm.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError, YAMLWarning
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dunnage.errors import Problem, shown
from dunnage.secrets.names import MASK, hidden_at
from dunnage.study.misread import misread

Path = tuple[str | int, ...]
"""Keys and list positions that lead to a place in the document."""
Data = Mapping[str, "Data"] | list["Data"] | str | int | float | bool | None

MOST_LETTERS = 200_000
MOST_NODES = 5_000
DEEPEST = 16
"""The grammar has five levels."""

EMPTY = "the file is empty"

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Document:
    """What a file says, and where. `data` is None when there is nothing usable in it."""

    data: Data
    lines: Mapping[Path, int]
    problems: tuple[Problem, ...]
    spoiled: frozenset[Path] = frozenset()
    """Paths of values that already have a problem; they read as None."""

    def line(self, path: Path) -> int:
        """Line, from 1, of the nearest place on the way to `path`; 0 when there is none."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 0


def read_document(text: str, *, settings: bool = False) -> Document:
    """Read one YAML document; what is wrong with it is in its problems, nothing is raised.

    `settings`: all of it is settings, so that more of its keys are those of secrets.
    """
    if len(text) > MOST_LETTERS:
        return _refused(0, f"the file is too long for a study (over {MOST_LETTERS} characters)")
    yaml = YAML(typ="safe", pure=True)
    try:
        refusal = _too_deep_or_many(yaml, text)
        if refusal is not None:
            return _refused(*refusal)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", YAMLWarning)  # an anchor may be set anew
            node = yaml.compose(text)
    except YAMLError as error:
        return Document(None, {}, (misread(error, text),))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, AttributeError):
        # The library does not foresee every text, such as a letter escape beyond Unicode.
        return _refused(0, "this is not YAML: it cannot be read")
    if node is None:
        return _refused(0, EMPTY)
    reader = _Reader(settings)
    try:
        data = reader.value(node, (), ())
    except _TooManyError as error:
        return _refused(
            error.line, f"aliases make this too long for a study (over {MOST_NODES} values)"
        )
    return Document(data, reader.lines, tuple(reader.problems), frozenset(reader.spoiled))


def shown_at(path: Path, value: object, *, setting: bool = False) -> str:
    """Return the value at a place as a message can repeat it; of a secret nothing is told.

    `setting`: all of the document is settings.
    """
    secret = hidden_at(path, setting=setting) and isinstance(value, str | int | float)
    return shown(MASK if secret else value)


def holds(data: object, step: str | int) -> bool:
    """Whether one step of a path can be taken from `data`."""
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, Mapping) and step in data


def _refused(line: int, what: str) -> Document:
    return Document(None, {}, (Problem(line, what),))


def _too_deep_or_many(yaml: YAML, text: str) -> tuple[int, str] | None:
    """Walk the events, which needs no recursion, before anything is built from them."""
    depth = 0
    for count, event in enumerate(yaml.parse(text)):
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            return event.start_mark.line + 1, f"this is nested too deeply (over {DEEPEST} levels)"
        if count > MOST_NODES:
            return (
                event.start_mark.line + 1,
                f"this is too long for a study (over {MOST_NODES} values)",
            )
    return None


class _TooManyError(Exception):
    """Aliases repeat so much that nothing is read any further."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        """Of the key below which it happens."""


@dataclass
class _Reader:
    """Turns nodes into data; `value` returns None for what it has a problem with."""

    settings: bool = False
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    spoiled: set[Path] = field(default_factory=set)
    nodes: int = 0

    def value(self, node: Node, path: Path, above: tuple[Node, ...]) -> Data:
        before = len(self.problems)
        data = self._value(node, path, above)
        if data is None and len(self.problems) > before:
            self.spoiled.add(path)
        return data

    def _value(self, node: Node, path: Path, above: tuple[Node, ...]) -> Data:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.nodes += 1
        if node in above:
            return self._problem(line, "this alias refers to a value that contains it")
        if self.nodes > MOST_NODES:
            raise _TooManyError(self.lines[path[:1]])
        if isinstance(node, ScalarNode):
            return self._scalar(node, line, path)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [
                self.value(item, (*path, index), (*above, node))
                for index, item in enumerate(node.value)
            ]
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path, above)
        return self._tagged(node, line, path)

    def _mapping(self, node: MappingNode, path: Path, above: tuple[Node, ...]) -> Data:
        data: dict[str, Data] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self._key(key_node, line)
            if key is None:
                continue
            if key in data:
                first = self.lines[(*path, key)]
                self._problem(line, f"the key {shown(key)} appears twice, first on line {first}")
                continue
            self.lines[(*path, key)] = line
            data[key] = self.value(value_node, (*path, key), (*above, node))
        return data

    def _key(self, node: Node, line: int) -> str | None:
        if isinstance(node, ScalarNode) and node.tag == f"{_TAG}merge":
            self._problem(line, "`<<` is not part of this grammar", "write the keys out")
            return None
        if isinstance(node, ScalarNode) and node.tag == f"{_TAG}str":
            text = self._scalar(node, line, ())
            return text if isinstance(text, str) else None
        if isinstance(node, ScalarNode):
            said, quoted = shown(node.value), shown(f'"{node.value}"')
            self._problem(line, f"the key {said} is not a word", f"put it in quotes: {quoted}")
        else:
            self._problem(line, "a key must be a word, not a list or mapping")
        return None

    def _scalar(self, node: ScalarNode, line: int, path: Path) -> Data:
        text: str = node.value
        kind = str(node.tag).removeprefix(_TAG)
        if kind in ("str", "timestamp", "value"):
            if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                return self._problem(line, "this text has half of a Unicode character")
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return self._number(text, line, path, whole=kind == "int")
        return self._tagged(node, line, path)

    def _number(self, text: str, line: int, path: Path, *, whole: bool) -> Data:
        said = shown_at(path, text, setting=self.settings)
        plain = text.replace("_", "")
        try:
            number = int(plain, 0 if plain[1:2].isalpha() else 10) if whole else float(plain)
        except ValueError:
            return self._problem(line, f"{said} is not a valid number")
        if abs(number) > 2**53 or math.isnan(number):
            return self._problem(line, f"{said} is too large a number")
        return number

    def _tagged(self, node: Node, line: int, path: Path) -> Data:
        tag = shown_at(path, node.tag, setting=self.settings)
        return self._problem(line, f"the tag {tag} is not allowed in a study")

    def _problem(self, line: int, what: str, hint: str = "") -> Data:
        """Note a problem; return None in place of the value."""
        self.problems.append(Problem(line, what, hint))
        return None
