"""Secrets are hidden, and what is around them stays what it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunnage.secrets.files import masked_data
from dunnage.secrets.names import MASK
from dunnage.secrets.texts import masked

HIDDEN = (
    ("password: geheim", f"password: {MASK}"),
    ("  password: my geheim, in words\nport: 1", f"  password: {MASK}\nport: 1"),
    ("{user: a, password: geheim, port: 1}", f"{{user: a, password: {MASK}, port: 1}}"),
    ("{\n  password: geheim,\n  port: 1}", f"{{\n  password: {MASK},\n  port: 1}}"),
    ("password: 'it''s geheim'", f"password: '{MASK}'"),
    ('client_secret: "a \\"geheim\\" one"', f'client_secret: "{MASK}"'),
    ("- api-key: geheim", f"- api-key: {MASK}"),
    ('{"auth_token": "geheim", "port": 1}', f'{{"auth_token": "{MASK}", "port": 1}}'),
    ("requirepass geheim\nport 6379\n", f"requirepass {MASK}\nport 6379\n"),
    ('masterauth "geheim geheim"\r\nport 1', f'masterauth "{MASK}"\r\nport 1'),
    ("PGPASSWORD=geheim psql -p 1", f"PGPASSWORD={MASK} psql -p 1"),
    ("redis-server --requirepass geheim --port 1", f"redis-server --requirepass {MASK} --port 1"),
    ("redis://user:geheim@host:6379/0", f"redis://user:{MASK}@host:6379/0"),
    ("fetch https://ghp_geheim@host/x", f"fetch https://{MASK}@host/x"),
    ('url: "mongodb://:gehe@im@a,b/x"', f'url: "mongodb://:{MASK}@a,b/x"'),
    ("password: |\n  geheim\n\n  geheim\nport: 1\n", f"password: {MASK}\nport: 1\n"),
    ("- password: >-  # note\n    geheim\n  port: 1\n", f"- password: {MASK}\n  port: 1\n"),
    ('a:\n  password: "ge\n    heim"\n  b: 1', f"a:\n  password: {MASK}\n  b: 1"),
    ("secret:  # below\n  geheim\nport: 1\n", f"secret: {MASK}\nport: 1\n"),
    ("secret: ge\n  heim", f"secret: {MASK}\n"),
    ("{keystore_password: ge heim, port: 1}", f"{{keystore_password: {MASK}, port: 1}}"),
    ("AWS_SECRET_ACCESS_KEY=geheim run", f"AWS_SECRET_ACCESS_KEY={MASK} run"),
    ("docker run -e GITHUB_TOKEN=geheim x", f"docker run -e GITHUB_TOKEN={MASK} x"),
    ("  MYSQL_PWD: geheim\n", f"  MYSQL_PWD: {MASK}\n"),
    ("aws_secret_access_key = geheim", f"aws_secret_access_key = {MASK}"),
    ("PGPASSWORD=ge,he'im psql", f"PGPASSWORD={MASK} psql"),
    ("'x password=geheim' ok", f"'x password={MASK}' ok"),
    ("{user=a,password=geheim,port=1}", f"{{user=a,password={MASK},port=1}}"),
    ("requirepass ge,he}im\nport 1", f"requirepass {MASK}\nport 1"),
    ("# requirepass geheim\nport 1", f"# requirepass {MASK}\nport 1"),
    ("CONFIG SET masterauth geheim", f"CONFIG SET masterauth {MASK}"),
    ("sentinel auth-pass one geheim", f"sentinel auth-pass one {MASK}"),
    ("tls-key-file-pass geheim", f"tls-key-file-pass {MASK}"),
    ("user default on >geheim ~* +@all", f"user default on >{MASK} ~* +@all"),
    ("redis://user:ge/heim@host/x", f"redis://user:{MASK}@host/x"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\ngeheim\n-----END RSA PRIVATE KEY-----\n",
        f"-----BEGIN RSA PRIVATE KEY----- {MASK} -----END RSA PRIVATE KEY-----\n",
    ),
    ("example.com/password: geheim", f"example.com/password: {MASK}"),
    ("/prod/db/password: 4711", f"/prod/db/password: {MASK}"),
    ("/prod/db/password: nothing 1", f"/prod/db/password: {MASK} 1"),
    ("/prod/db/password: no-one knows", f"/prod/db/password: {MASK} knows"),
    ("/prod/db/password: this", f"/prod/db/password: {MASK}"),
    ("/prod/db/password=is secret", f"/prod/db/password={MASK} secret"),
    ('{"/db/password": "is not geheim"}', f'{{"/db/password": "{MASK}"}}'),
    ("db.password: is not geheim\n", f"db.password: {MASK}\n"),
    ("say x.password: no geheim", f"say x.password: {MASK} geheim"),
    ("# password: |\n#   geheim\n# port: 1\n", f"# password: {MASK}\n# port: 1\n"),
)

INNOCENT = (
    "the password is wrong",
    "Password authentication failed for user a",
    "password_encryption: on",
    "port 6379\nmaxmemory 100mb\nappendonly no",
    "key: value",
    "password:\n  length: 12",
    "passwordless: true",
    "keys=1000 tokens=3",
    "password:\n  - length",
    "http://host:6379/path@home",
    "https://host.example/a:b@c",
    "https://host.example?to=a@b",
    "redis:7.0@sha256:0123",
    "PWD=/home/me OLDPWD=/",
    "initial_token: 5\nkey_cache_size: 100MiB\nauthenticator: AllowAllAuthenticator",
    "credentials_validity: 2000ms\nnum_tokens: 16",
    "-Dcom.sun.management.jmxremote.password.file=/etc/jmx",
    "redis-server --no-password --port 1",
    "password:  \n  length: 12",
)

keys = st.sampled_from(("password", "db_password", "requirepass", "api_key", "client-secret"))
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_a_secret_is_hidden_and_all_else_stays(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_words_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("text", [expected for _, expected in HIDDEN])
def test_masking_what_is_masked_changes_nothing(text: str) -> None:
    assert masked(text) == text


@given(
    st.sampled_from(("password", "db_password", "api_key", "client-secret", "A_TOKEN")),
    st.sampled_from((": ", "=", ": '", ' = "')),
    st.text(st.characters(categories=("L", "N")), min_size=12, max_size=12),
)
def test_a_key_with_a_slash_before_it_hides_its_secret(key: str, between: str, secret: str) -> None:
    quote = between[-1].strip(": =")
    text = f"x /prod/{key}{between}{secret}{quote} is not geheim"
    assert masked(text) == f"x /prod/{key}{between}{MASK}{quote} is not geheim"


@given(keys, st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=4), plain)
def test_a_masked_json_text_is_json_still(key: str, secret: str, other: object) -> None:
    hidden = masked(json.dumps({key: secret, "other": 1, "text": "y"}, ensure_ascii=False))
    assert json.loads(hidden) == {key: MASK, "other": 1, "text": "y"}


@given(
    keys,
    st.text(min_size=1).map("geheim-".__add__),
    st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
)
def test_a_masked_document_is_json_and_holds_the_secret_nowhere(
    key: str, secret: str, beside: Any
) -> None:
    document = {"beside": beside, "deep": [{key: secret}, {key: [secret, {"a": secret}]}]}
    text = json.dumps(masked_data(document))
    assert "geheim-" not in text
    assert json.loads(text)["deep"] == [{key: MASK}, {key: [MASK, {"a": MASK}]}]


@given(st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.just("a"), inner)))
def test_a_document_without_secrets_keeps_its_shape(document: Any) -> None:
    def shape(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: shape(value) for key, value in data.items()}
        return [shape(each) for each in data] if isinstance(data, list) else type(data)

    assert shape(masked_data(document)) == shape(document)


def test_arguments_and_files_inside_a_document_are_masked() -> None:
    document = {
        "argv": ["redis-server", "--requirepass", "geheim", "--port", "1"],
        "files": {"redis.conf": 'requirepass "geheim"\nport 1\n'},
        "password": 12345,
        "private_key": None,
    }
    assert masked_data(document) == {
        "argv": ["redis-server", "--requirepass", MASK, "--port", "1"],
        "files": {"redis.conf": f'requirepass "{MASK}"\nport 1\n'},
        "password": MASK,
        "private_key": None,
    }


def test_a_variable_that_is_called_like_a_secret_is_masked_and_no_other() -> None:
    secret = (
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "MONGO_INITDB_ROOT_PASSWORD",
        "MYSQL_PWD",
        "PGPASSWORD",
        "REDISCLI_AUTH",
        "SSHPASS",
        "TOKEN_OF_A",
    )
    innocent = ("AUTHOR", "CASSANDRA_NUM_TOKENS", "KEYSPACE", "LANG", "OLDPWD", "PATH", "PWD")
    found = masked_data(dict.fromkeys((*secret, *innocent), "geheim"))
    assert found == {**dict.fromkeys(secret, MASK), **dict.fromkeys(innocent, "geheim")}


@pytest.mark.parametrize(
    "piece", ["KEY_", "A-", "://:", "://a:b", "# ", "a,", ", a: ", "{,", ">x on ", "password;"]
)
def test_a_long_text_without_a_secret_is_soon_read_and_stays(piece: str) -> None:
    """A form that tries every beginning with every end would take minutes."""
    text = piece * (200_000 // len(piece)) + "."
    assert masked(text) == text
