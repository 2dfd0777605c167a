"""Where a study has a mask in the place of a secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.model.study import Study
from dunnage.secrets.names import MASK
from dunnage.study.document import Data, Path, read_document


def masked_line(text: str) -> int:
    """Return the line, from 1, of the first key or value that holds a mask; 0 where none does.

    A mask in a comment changes nothing of what the study says.
    """
    if MASK not in text:
        return 0
    document = read_document(text)
    if document.data is None:
        return text.count("\n", 0, text.index(MASK)) + 1
    masks = (document.line(path) for path, word in _words(document.data, ()) if MASK in word)
    return next(masks, 0)


def is_masked(study: Study) -> bool:
    """Whether a study has a mask in the place of a secret, so that it cannot be measured."""
    return MASK in study.model_dump_json()


def _words(data: Data, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield (*path, key), key
            yield from _words(value, (*path, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            yield from _words(item, (*path, index))
