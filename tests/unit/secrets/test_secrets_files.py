"""Files are masked by what their names say that they are; without a secret no byte changes."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from dunnage.model.study import DatabaseSpec
from dunnage.secrets.files import masked_data, masked_file
from dunnage.secrets.names import MASK, hidden_at

FILES = {
    "cassandra.yaml": "encryption_options: {keystore_password: MARK, port: 1}\ntoken: MARK\n",
    "server.json": '{"settings": {"token": "MARK"}, "pass\\u0077ord": "MARK", "port": 1}\n',
    "redis.conf": "port 1\nrequirepass MARK\n# masterauth MARK\nuser a on >MARK +@all\n",
    "jvm.options": "-Xmx1G\n-Djavax.net.ssl.keyStorePassword=MARK\n",
    "server.log": "connects to redis://user:MARK@host:1/x\n",
    "events.jsonl": '{"port": 1}\n{"why": "AWS_SECRET_ACCESS_KEY=MARK"}\n',
}
"""Name of a file → its text, with a mark in the place of every secret."""


@pytest.mark.parametrize("name", FILES)
def test_no_secret_of_a_file_is_written(name: str) -> None:
    hidden = masked_file(name, FILES[name], settings=True)
    assert "MARK" not in hidden
    assert MASK in hidden
    assert "1" in hidden
    assert masked_file(name, hidden, settings=True) == hidden
    inside = masked_data({"files": {f"/etc/{name}": FILES[name]}})
    assert inside == {"files": {f"/etc/{name}": hidden}}


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_a_secret_stays_byte_for_byte(name: str) -> None:
    text = (
        '{"a":1.0e5,  "path": "C:\\\\key"}\n' if "json" in name else "# key\na:   1\nb: [1,  2]\n"
    )
    assert masked_file(name, text) == text


def test_variables_in_a_list_are_masked_and_their_names_stay() -> None:
    given = ["-e", "GITHUB_TOKEN=ge heim", "-e", "LANG=C", "--password=x y", "PWD=/", "A_KEY="]
    expected = ["-e", f"GITHUB_TOKEN={MASK}", "-e", "LANG=C", f"--password={MASK}", "PWD=/"]
    assert masked_data(given) == [*expected, "A_KEY="]


def test_settings_have_secrets_that_are_names_elsewhere() -> None:
    given = {"token": "name", "settings": {"token": "geheim", "hz": 10}}
    assert masked_data(given) == {"token": "name", "settings": {"token": MASK, "hz": 10}}


def test_options_of_a_network_are_settings_however_deep() -> None:
    def options(token: str) -> dict[str, object]:
        return {"network_options": {"configuration": {"plugins": [{"mtu": 1, "token": token}]}}}

    assert masked_data(options("geheim")) == options(MASK)
    written = masked_file("study.yaml", json.dumps(options("geheim")))
    assert MASK in written
    assert "geheim" not in written


@pytest.mark.parametrize("name", ["result.json", "lines.jsonl", "study.yaml"])
@pytest.mark.parametrize("text", ['{"password": ', "[" * 3000, '\\password: "\x00', "\udc80 key"])
def test_what_is_broken_is_masked_as_a_text(name: str, text: str) -> None:
    assert masked_file(name, text) in (text, masked_data(text))


def test_a_document_stays_a_document() -> None:
    hidden = masked_file("x.json", json.dumps({"password": 5, "numbers": [1.5, None, True]}))
    assert json.loads(hidden) == {"password": MASK, "numbers": [1.5, None, True]}


def test_a_place_in_a_study_is_known_to_be_secret_by_its_keys() -> None:
    assert hidden_at(("database", "settings", "token"))
    assert hidden_at(("deployments", "a", "database", "settings", "requirepass", 0))
    assert hidden_at(("deployments", "a", "network_options", "configuration", "token"))
    assert hidden_at(("plugins", 0, "token"), setting=True)
    assert not hidden_at(("plugins", 0, "token"))
    assert not hidden_at(("deployments", "token", "platform"))


def test_no_error_of_a_validation_quotes_what_was_given() -> None:
    with pytest.raises(ValidationError) as raised:
        DatabaseSpec.model_validate({"kind": "redis", "settings": {"requirepass": ["geheim"]}})
    assert "requirepass" in str(raised.value)
    assert "geheim" not in str(raised.value)
