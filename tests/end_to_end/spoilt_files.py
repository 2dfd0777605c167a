"""Files that are no study: in another form than a study has."""

from __future__ import annotations

from collections.abc import Sequence

from tried import STUDY

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcde", "bcdef", strict=True)
)

CONTENTS: Sequence[tuple[str, str | bytes, str]] = (
    ("empty", "", "the file is empty"),
    (
        "white space",
        " \n\t\n",
        "line 2: tabs cannot indent in YAML: use spaces",
    ),
    ("comments", "# nothing\n", "the file is empty"),
    ("a word", "study\n", "line 1: a study must be a mapping of keys to values, not `study`"),
    ("a list", "- dunnage: 1\n", "line 1: a study must be a mapping of keys to values, not a list"),
    ("no text", bytes(range(256)), "line 2: this is not UTF-8 text: it holds the byte 0x80"),
    ("UTF-16", STUDY.encode("utf-16"), "line 1: this is not UTF-8 text: it holds the byte 0xff"),
    (
        "a NUL",
        STUDY.replace("tried", "tr\x00ied"),
        "line 2: the character U+0000 is not allowed in a study",
    ),
    (
        "tabs",
        STUDY.replace("  plain", "\tplain"),
        "line 6: tabs cannot indent in YAML: use spaces",
    ),
    (
        "too long",
        STUDY + "#" * 300_000,
        "the file is too long for a study (over 200000 characters)",
    ),
    (
        "too deep",
        "a: " + "[" * 400 + "]" * 400,
        "line 1: this is nested too deeply (over 16 levels)",
    ),
    (
        "a bomb of aliases",
        BOMB,
        "line 4: aliases make this too long for a study (over 5000 values)",
    ),
    ("an alias of itself", "a: &a [*a]\n", "line 1: this alias refers to a value that contains it"),
    (
        "an object",
        "name: !!python/object/apply:os.system [touch owned]\n",
        "line 1: the tag `tag:yaml.org,2002:python/object/apply:os.system` is not allowed in a",
    ),
    (
        "two documents",
        STUDY + "---\n" + STUDY,
        "line 17: a second YAML document begins here, and a study is one",
    ),
    ("every key twice", STUDY + STUDY, "line 17: the key `dunnage` appears twice, first on line 1"),
    ("JSON that is none", '{"dunnage": 1, "name": }', "line 1: `name` must be text, not nothing"),
    ("a merge", STUDY + "<<: {blocks: 7}\n", "line 17: `<<` is not part of this grammar"),
    ("a page", "<html><body>dunnage: 1</body></html>", "line 1: `dunnage` is missing"),
    (
        "a shell script",
        "#!/bin/sh\nrm -rf /\n",
        "line 2: a study must be a mapping of keys to values, not `rm -rf /`",
    ),
)
"""Name, what the file holds, and what must be said of it."""
