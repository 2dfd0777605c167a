"""Secrets in YAML are masked however it spells them, and in its comments."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from dunnage.secrets.names import MASK
from dunnage.secrets.yaml_texts import masked_yaml


@pytest.mark.parametrize(
    "settings",
    [
        "{requirepass: GEHEIM1}",
        "{requirepass:\n  GEHEIM1}",
        '{requirepass: "GEHEIM0\n GEHEIM1"}',
        "{requirepass: GEHEIM0\n  GEHEIM1}",
        '{"a": 1, "requirepass":\n"GEHEIM1"}',
        "{requirepass: &x GEHEIM1}",
        "{requirepass: !!str GEHEIM1}",
        "{aclfile: &x GEHEIM1, requirepass: *x}",
        '{"require\\x70ass": GEHEIM1}',
        "{AWS_SECRET_ACCESS_KEY: GEHEIM1}",
        "{token: GEHEIM1}",
        "{auth: {user: GEHEIM0, other: [GEHEIM1]}}",
        "\n  ? requirepass\n  : GEHEIM1",
        "\n  requirepass: |\n    GEHEIM1\n    GEHEIM2\n  after: 1",
        "\n  requirepass: >-\n    GEHEIM1\n  after: 1",
    ],
)
def test_no_spelling_hides_a_secret(settings: str) -> None:
    text = f"name: tried\nsettings: {settings}\nlast: seen\n"
    shown = masked_yaml(text)
    assert "GEHEIM" not in shown, shown
    assert MASK in shown
    read = YAML(typ="safe", pure=True).load(shown)
    assert (read["name"], read["last"]) == ("tried", "seen")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n",
        "a: &a [*a]\n",
        "a: [\n",
        "initial_token: 5\n",
        "a: 1\n",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert masked_yaml(text) == text


@pytest.mark.parametrize(
    "comment",
    [
        "# requirepass: GEHEIM1",
        "# requirepass: GEHEIM0, and GEHEIM1",
        "#masterauth GEHEIM1",
        "## token: GEHEIM1",
        "# AWS_SECRET_ACCESS_KEY=GEHEIM1",
        "#   password: |\n#     GEHEIM1\n#   port: 1",
        "# redis://user:GEHEIM1@host:6379",
        "# was KNOWN1 before",
        "last: seen  # auth: GEHEIM1",
        "last: seen  # no more KNOWN1",
    ],
)
def test_a_secret_in_a_comment_is_masked(comment: str) -> None:
    text = f"settings:\n  requirepass: KNOWN1\n{comment}\nafter: 1\n"
    shown = masked_yaml(text)
    assert "GEHEIM" not in shown, shown
    assert "KNOWN1" not in shown, shown
    assert YAML(typ="safe", pure=True).load(shown)["after"] == 1
    assert masked_yaml(shown) == shown


def test_what_comments_say_of_ordinary_settings_stays() -> None:
    comments = (
        "# A study: what to compare, where, and which questions to answer.\n"
        "#   dunnage plan THIS-FILE      shows blocks\n"
        "# the password is elsewhere; tokens are spread evenly\n"
        "port: 1  # not 6379, as `requirepass` is not set\n"
        "#  native-volume: {platform: docker, storage: volume}\n"
    )
    text = f"settings: {{password: KNOWN1}}\n{comments}"
    assert masked_yaml(text) == text.replace("KNOWN1", MASK)


def test_a_short_key_is_a_secret_in_settings_and_a_name_elsewhere() -> None:
    text = "deployments:\n  auth: {platform: native}\n  token: {settings: {token: GEHEIM1}}\n"
    assert masked_yaml(text) == text.replace("GEHEIM1", MASK)
    assert masked_yaml("token: GEHEIM1\n", settings=True) == f"token: {MASK}\n"
