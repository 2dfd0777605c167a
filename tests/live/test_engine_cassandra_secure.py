"""The engine logs in to a real Cassandra, and encrypts what it says; no secret is left anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cql_over_tls
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509 import load_pem_x509_certificate
from own_cassandra import FIELDS, MEMBERS, RECORDS, Ring, order
from own_servers import ENVIRONMENT

from dunnage.model.choices import Phase
from dunnage.model.level import Level
from dunnage.software.engine import engine_path
from dunnage.substrates.kubernetes.certificates import Authority

pytestmark = pytest.mark.live

MARK = "GEHEIM"
"""Every password begins with it."""
PASSWORD = f"{MARK}-1-of-the-user"
USER, VARIABLE = "app", "CASSANDRA_PASSWORD"
NAME = "cassandra.test"
"""What the certificate of the server is for, besides its address."""
ADDRESS = f"{MEMBERS[0]}:9042"
SETTINGS = """
authenticator: PasswordAuthenticator
client_encryption_options:
  enabled: true
  optional: false
  keystore: {keystore}
  keystore_password: of-the-store
  store_type: PKCS12
"""
WAITING = 180


class Guarded(Ring):
    """One server that only speaks TLS, and lets in nobody but users whom it knows."""

    def __init__(self, directory: Path) -> None:
        ours = Authority("ours")
        self.ca = directory / "ca.pem"
        self.ca.write_bytes(ours.certificate)
        issued = ours.server("cassandra", (MEMBERS[0], NAME))
        key = serialization.load_pem_private_key(issued.key, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        lock = serialization.BestAvailableEncryption(b"of-the-store")
        certificate = load_pem_x509_certificate(issued.certificate)
        keystore = directory / "keystore.p12"
        keystore.write_bytes(
            pkcs12.serialize_key_and_certificates(b"cassandra", key, certificate, None, lock)
        )
        super().__init__(directory, MEMBERS[:1], SETTINGS.format(keystore=keystore))
        self.file = directory / "password"
        """Where the user's password is."""
        self.file.write_text(f"{PASSWORD}\n")
        self.file.chmod(0o600)

    def ask(self, user: str, password: str, *statements: str) -> list[list[list[str]]] | None:
        """The rows of each answer; None where the server does not let one in, or ask."""
        asked = {
            "host": MEMBERS[0],
            "authority": str(self.ca),
            "user": user,
            "password": password,
            "statements": statements,
        }
        argv = self.inside(sys.executable, cql_over_tls.__file__)
        done = subprocess.run(
            argv, input=json.dumps(asked), check=False, capture_output=True, text=True
        )
        found: list[list[list[str]]] | None = json.loads(done.stdout) if done.stdout else None
        return found

    def until_it_knows_its_user(self) -> None:
        strategy = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        deadline = time.monotonic() + WAITING
        while not self.ask(
            "cassandra",
            "cassandra",
            f"CREATE ROLE IF NOT EXISTS {USER} WITH PASSWORD = '{PASSWORD}' AND LOGIN = true",
            f"CREATE KEYSPACE IF NOT EXISTS ycsb WITH replication = {strategy}",
            f"CREATE TABLE IF NOT EXISTS ycsb.usertable (y_id varchar PRIMARY KEY, {FIELDS})",
        ):
            self.wait(deadline)

    def plan(
        self,
        content: Mapping[str, Any],
        password: Mapping[str, str] | None = None,
        authority: Path | None = None,
        **tls: Any,
    ) -> dict[str, Any]:
        """The same plan as the user, over TLS, as long as nothing else is said."""
        trusted = None if tls.get("insecure") else str(authority or self.ca)
        credentials = {"user": USER, "password": password or {"file": str(self.file)}}
        encrypted = {"authority": trusted, "name": None, "insecure": False} | tls
        target = {**content["target"], "credentials": credentials, "tls": encrypted}
        return {**content, "target": target}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """With all records."""
    home = Guarded(tmp_path_factory.mktemp("guarded"))
    try:
        home.start(0)
        home.until_it_knows_its_user()
        loaded = home.result(home.plan(order(phase=Phase.LOAD)))
        assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
        yield home
    finally:
        home.close()


@pytest.mark.parametrize("where", ["file", "variable"])
@pytest.mark.parametrize("core", ["A", "E"])
def test_a_user_logs_in_over_tls_by_a_file_or_by_a_variable(
    guarded: Guarded, core: str, where: str
) -> None:
    password = None if where == "file" else {"variable": VARIABLE}
    variables = {} if where == "file" else {VARIABLE: PASSWORD}
    run = guarded.result(guarded.plan(order(core), password), **variables)
    assert run["errors"] == {}
    assert sum(run["operations"].values()) > 0
    assert run["remotes"] == [ADDRESS]
    (way,) = run["encryption"]
    assert way.endswith(", certificate checked")


def test_the_server_tells_of_the_same_user_protocol_and_cipher_as_the_result(
    guarded: Guarded,
) -> None:
    content = guarded.plan(order("C", duration=4.0, level=Level(threads=1)))
    out, engine = guarded.engine(content)
    asked = "SELECT username, ssl_protocol, ssl_cipher_suite FROM system_views.clients"
    seen: set[tuple[str, ...]] = set()
    while engine.poll() is None:
        (clients,) = guarded.ask(USER, PASSWORD, asked) or [[]]
        # One of them is who asks: it is by one connection, the engine by two.
        if len(clients) == 3:
            seen |= {tuple(client) for client in clients}
    _, said = engine.communicate()
    assert engine.returncode == 0, said
    (way,) = json.loads((out / "result.json").read_text())["encryption"]
    protocol, cipher, *_ = way.replace(",", " ").split()
    assert (USER, protocol, cipher.replace("TLS13_", "TLS_")) in seen
    assert {user for user, *_ in seen} == {USER}


def test_a_wrong_password_is_refused_with_the_servers_words_and_where_to_put_it_right(
    guarded: Guarded,
) -> None:
    wrong = guarded.plan(order("C"), {"variable": VARIABLE})
    said = guarded.refused(wrong, **{VARIABLE: f"{MARK}-2"})
    begin = f"no connection: `{ADDRESS}` refuses the user `{USER}`: Provided username {USER} and/or"
    assert begin in said
    assert f"type: read -rs {VARIABLE} && export {VARIABLE}" in said
    assert MARK not in said


def test_who_does_not_log_in_is_told_how_to(guarded: Guarded) -> None:
    content = guarded.plan(order("C"))
    content["target"]["credentials"] = None
    said = guarded.refused(content)
    assert "lets in known users only" in said
    assert "type: --user NAME" in said


def test_a_certificate_of_somebody_else_is_refused_unless_any_will_do(guarded: Guarded) -> None:
    theirs = guarded.directory / "theirs.pem"
    theirs.write_bytes(Authority("theirs").certificate)
    said = guarded.refused(guarded.plan(order("C"), authority=theirs))
    assert f"no connection: `{ADDRESS}`: no TLS with it: invalid peer certificate: Unknown" in said
    assert "type: --tls-ca FILE" in said
    result = guarded.result(guarded.plan(order("C"), insecure=True))
    assert result["errors"] == {}
    (way,) = result["encryption"]
    assert way.endswith(", certificate not checked")


def test_a_certificate_must_be_for_the_host_or_for_the_name_that_is_demanded(
    guarded: Guarded,
) -> None:
    said = guarded.refused(guarded.plan(order("C"), name="other.test"))
    assert "certificate not valid for name" in said
    assert "--tls-name NAME" in said
    assert guarded.result(guarded.plan(order("C"), name=NAME))["errors"] == {}
    # A host that is connected to by the address that its certificate is for.
    by_host = guarded.plan(order("C"))
    by_host["target"]["addresses"] = ["localhost:9042"]
    assert 'certificate not valid for name "localhost"' in guarded.refused(by_host)


def test_who_speaks_in_the_open_is_told_of_tls_and_never_sends_a_password(guarded: Guarded) -> None:
    content = guarded.plan(order("C", timeout=0.5))
    content["target"]["tls"] = None
    said = guarded.refused(content)
    assert f"no connection: `{ADDRESS}` speaks TLS, and ends connections in the open" in said
    assert "type: --tls, or --tls-ca FILE" in said
    assert MARK not in said


def test_no_file_message_or_command_line_holds_a_password(guarded: Guarded) -> None:
    said: list[str] = []
    running = order("A", duration=60.0) | {"until_told": True, "warmup": 0.0}
    out, engine = guarded.engine(
        guarded.plan(running, {"variable": VARIABLE}), **{VARIABLE: PASSWORD}
    )
    deadline = time.monotonic() + WAITING
    while not (out / "latency.hlog").exists():
        guarded.wait(deadline)
    said.append(Path(f"/proc/{engine.pid}/cmdline").read_text())
    engine.terminate()
    said += engine.communicate()
    assert engine.returncode == 0, said
    assert "--plan" in said[0], "a command line was read"

    properties = guarded.directory / "ycsb.properties"
    properties.write_text(
        f"cassandra.username={USER}\ncassandra.password={PASSWORD}\ncassandra.useSSL=true\n"
        f"recordcount={RECORDS}\nworkload=site.ycsb.workloads.CoreWorkload\n"
    )
    for form in ("text", "json", "ycsb"):
        words = ("drive", f"cassandra://{ADDRESS}", "-P", str(properties), "--operations", "50")
        more = ("--tls-ca", str(guarded.ca), "--format", form, "--timeout", "40s")
        out = guarded.directory / form
        argv = guarded.inside(str(engine_path()), *words, *more, "--out", str(out))
        done = subprocess.run(argv, check=False, capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        assert done.stdout
        left = {path.name for path in out.iterdir()}
        assert left == {"plan.json", "result.json", "summary.json", "latency.hlog"}
        said += [done.stdout, done.stderr]
    assert [text for text in said if MARK in text] == []

    # The file of the password, and that of properties, are where it is meant to be. The server
    # keeps a hash.
    holding = {
        path.relative_to(guarded.directory).as_posix()
        for path in guarded.directory.rglob("*")
        if path.is_file() and MARK.encode() in path.read_bytes()
    }
    assert holding == {"password", "ycsb.properties"}
