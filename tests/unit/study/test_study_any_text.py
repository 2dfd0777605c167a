"""Whatever text is given for a study: only problems come of it, each where it began."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_texts import changed, only_problem, problems

from dunnage.errors import StudyError
from dunnage.study.read import read_study
from offers import OFFER


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "just words",
        "[1, 2]",
        "a: [",
        "a: b: c",
        "\t- a",
        "a: *b",
        "&a [*a]",
        "&a {b: *a}",
        "--- a\n--- b\n",
        "\x00\x01\x02",
        "\ufffd" * 100,
        '"\\UFFFFFFFF"',
        'name: "\\ud800"',
        "? [a, b]\n: c",
        "? {a: b}\n: c",
        "~: 1",
        "%YAML 3.1\n---\na: 1",
        "%YAML 1.1\n---\ndunnage: yes",
        "!!python/object/apply:os.system ['true']",
        "dunnage: !!binary aGVsbG8=",
        "dunnage: !!int x",
        "dunnage: .nan",
        "seed: " + "9" * 5000,
        "[" * 100_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "a: " + "x" * 300_000,
        "\n".join(f"a{n}: 1" for n in range(20_000)),
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]"
            for n in range(9)
        ),
        "deployments: [a]\nworkloads: {a: b}\nload: x\nquestions: 5\ntestbed: []\nfactors: x",
        "deployments: {a: [x], b: 5, c: {database: {kind: {a: b}}}}\nfactors: {storage: [[x]]}",
        "deployments: {a: {platform: native}}\nfactors: {storage: [{a: b}], limits.cpus: [x, -1]}",
    ],
)
def test_no_text_whatever_ends_in_anything_but_problems(text: str) -> None:
    found = problems(text)
    assert found
    assert all(problem.what and "\n" not in problem.what for problem in found)
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('a: 1\nb: "open\nc: 2\nd: 3\n', 2, "this quote is never closed"),
        ("a: 1\nb: 'open\nc: 2\n", 2, "this quote is never closed"),
        ('a: 1\nb: "open\nc: 2\nd: "7.0"\ne: 5\n', 2, "the quote that opens here runs to line 4"),
        ("a: 1\nb: [1, 2\n", 2, "this bracket is never closed"),
        ("a: 1\nb: [1, 2\nc: 3\n", 2, "the bracket that opens here runs to line 3"),
        ("a: 1\nb: {c: 1\n", 2, "this bracket is never closed"),
        ("a: 1\nb: \x00\n", 2, "the character U+0000 is not allowed in a study"),
        ("a: 1\nb: c: d\n", 2, "mapping values are not allowed here"),
        ("a: 1\nb: @x\n", 2, "cannot start any token"),
        ("a:\n\tb: 1\n", 2, "tabs cannot indent in YAML: use spaces"),
        ("a:\n  b: 1\n \tc: 2\n", 3, "tabs cannot indent in YAML: use spaces"),
        ("a:\tb\n", 1, "a tab is not allowed here: use spaces"),
    ],
)
def test_what_is_not_yaml_is_told_where_it_began(text: str, line: int, what: str) -> None:
    problem = only_problem(text)
    assert problem.line == line
    assert what in problem.what


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "dunnage init"),
        ("# nothing\n", "dunnage init"),
        ("just words", "dunnage init"),
        ("name: [", "dunnage plan 'my study.yaml'"),
        ("name: good", "dunnage plan 'my study.yaml'"),
    ],
)
def test_whoever_has_nothing_begins_and_whoever_mends_checks_again(text: str, hint: str) -> None:
    with pytest.raises(StudyError) as raised:
        read_study(text, "my study.yaml", OFFER)
    assert raised.value.hint == hint


@pytest.mark.parametrize(
    "settings",
    [
        '{"a b": 1}',
        '{"a\\nrequirepass x": 1}',
        '{a: "1\\nrequirepass x"}',
        '{"$(x)": 1}',
        '{"": 1}',
    ],
)
def test_a_setting_is_one_word_with_one_line(settings: str) -> None:
    told = only_problem(changed("members: 3", f"members: 3, settings: {settings}"))
    assert "is not the name of a setting" in told.what or "is not one line of text" in told.what


@pytest.mark.parametrize("name", ["requirepass ", " requirepass", "requirepass\\t"])
def test_a_setting_with_a_blank_beside_its_name_tells_no_secret(name: str) -> None:
    settings = f'{{"{name}": hunter2}}'
    told = only_problem(changed("members: 3", f"members: 3, settings: {settings}"))
    assert told.what == "`requirepass` is not the name of a setting: there is a blank beside it"


@pytest.mark.parametrize("image", ["-v", "a b", "redis:7.0 --privileged", "$(x)", "../x"])
def test_an_image_is_the_name_of_one(image: str) -> None:
    told = only_problem(changed("members: 3", f"members: 3, image: {image!r}"))
    assert "is not the name of an image" in told.what


JARGON = ("Input should", "Value error", "pydantic", "Traceback", "NoneType", "validation")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_arbitrary_text_raises_nothing_but_a_study_error(text: str) -> None:
    assert_only_problems(text)


KEYS = st.sampled_from(
    [
        "dunnage",
        "name",
        "testbed",
        "kind",
        "hosts",
        "memory",
        "substrate",
        "contexts",
        "database",
        "version",
        "members",
        "settings",
        "consistency",
        "deployments",
        "platform",
        "network",
        "storage",
        "limits",
        "slowdown",
        "factors",
        "workloads",
        "core",
        "phase",
        "records",
        "load",
        "threads",
        "rate",
        "duration",
        "operations",
        "questions",
        "baseline",
        "against",
        "metric",
        "twin",
        "sampler",
        "blocks",
        "repeat",
        "client",
        "native",
        "docker",
        "storage",
        "limits.cpus",
        "database.members",
        "Q1",
    ]
)

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["A", "native", "docker", "redis", "5%", "1s", "host", "t 1", "x" * 80, "é"]),
)

TREES = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        st.lists(inside, max_size=4), st.dictionaries(KEYS, inside, max_size=6)
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, TREES, max_size=12))
def test_arbitrary_values_under_known_keys_raise_nothing_but_a_study_error(
    data: dict[str, object],
) -> None:
    assert_only_problems(_flow({"dunnage": 1, **data}))


def assert_only_problems(text: str) -> None:
    try:
        read_study(text, "study.yaml", OFFER)
    except StudyError as error:
        assert error.problems
        for problem in error.problems:
            assert not any(word in problem.what for word in JARGON), problem


def _flow(value: object) -> str:
    """Write a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return {None: "~", True: "true", False: "false"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]
