"""Secrets in a study are masked however YAML spells them."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from dunnage.store.secret_keys import masked_study
from dunnage.store.secrets import MASK


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
    shown = masked_study(text)
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
    assert masked_study(text) == text
