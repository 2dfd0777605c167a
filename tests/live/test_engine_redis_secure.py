"""The engine logs in to a real Redis, and encrypts what it says; no secret is left anywhere."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from own_redis import RECORDS, Place, opened, order, targeted
from own_servers import ENVIRONMENT

from dunnage.model.choices import Phase
from dunnage.software.engine import engine_path
from dunnage.substrates.kubernetes.certificates import Authority

pytestmark = pytest.mark.live

MARK = "GEHEIM"
"""Every password begins with it."""
PASSWORD = f"{MARK}-1-of-the-server"
VARIABLE = "REDIS_PASSWORD"
USERS = ("user default off", f"user app on >{PASSWORD} ~* &* +@all")
ONE_PASSWORD = (f"requirepass {PASSWORD}", f"masterauth {PASSWORD}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with opened(tmp_path) as home:
        yield home


@pytest.fixture
def authority(place: Place) -> Authority:
    """Its certificate is in `ca.pem`."""
    ours = Authority("ours")
    (place.directory / "ca.pem").write_bytes(ours.certificate)
    return ours


def kept(place: Place, password: str) -> dict[str, str]:
    """A file with a password, as a plan names it."""
    file = place.directory / "password"
    file.write_text(f"{password}\n")
    file.chmod(0o600)
    return {"file": str(file)}


def as_user(
    content: Mapping[str, Any], user: str | None, password: Mapping[str, str]
) -> dict[str, Any]:
    return targeted(content, credentials={"user": user, "password": password})


def over_tls(
    content: Mapping[str, Any],
    authority: Path | None,
    name: str | None = None,
    insecure: bool = False,
) -> dict[str, Any]:
    trusted = authority and str(authority)
    return targeted(content, tls={"authority": trusted, "name": name, "insecure": insecure})


def encrypted(
    place: Place,
    authority: Authority,
    *options: str,
    names: Sequence[str] = ("127.0.0.1",),
    port: int = 6379,
    lines: Sequence[str] = (),
) -> None:
    """A server that only speaks TLS."""
    issued = authority.both("redis", names)
    certificate, key = (place.directory / f"{port}.{what}" for what in ("crt", "key"))
    certificate.write_bytes(issued.certificate)
    key.write_bytes(issued.key)
    trusted = str(place.directory / "ca.pem")
    place.asking = ("--tls", "--cacert", trusted)
    place.start(
        port,
        *("--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"),
        *("--tls-cert-file", str(certificate), "--tls-key-file", str(key)),
        *("--tls-ca-cert-file", trusted, *options),
        lines=lines,
    )


@pytest.mark.parametrize("where", ["file", "variable"])
@pytest.mark.parametrize("user", ["app", None])
def test_one_logs_in_by_user_and_password_or_by_the_only_password(
    place: Place, user: str | None, where: str
) -> None:
    place.password, place.asking = PASSWORD, ("--user", user) if user else ()
    place.start(6379, lines=USERS if user else ONE_PASSWORD)
    password = kept(place, PASSWORD) if where == "file" else {"variable": VARIABLE}
    variables = {} if where == "file" else {VARIABLE: PASSWORD}
    loaded = place.result(as_user(order(phase=Phase.LOAD), user, password), **variables)
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    run = place.result(as_user(order("F"), user, password), **variables)
    assert run["errors"] == {}

    nobody = place.refused(order("C", operations=10, duration=None, warmup=0.0))
    assert "NOAUTH" in nobody
    assert "put the password into the variable `DUNNAGE_PASSWORD`" in nobody


def test_a_wrong_password_is_refused_with_the_servers_words(place: Place) -> None:
    place.password = PASSWORD
    place.start(6379, lines=ONE_PASSWORD)
    content = as_user(order("C", timeout=0.5), None, kept(place, f"{MARK}-2"))
    said = place.refused(content)
    assert "`127.0.0.1:6379`: cannot log in: WRONGPASS" in said
    assert MARK not in said


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
def test_connections_are_encrypted_as_the_result_says(
    place: Place, authority: Authority, protocol: str
) -> None:
    encrypted(place, authority, "--tls-protocols", protocol)
    ca = place.directory / "ca.pem"
    loaded = place.result(over_tls(order(phase=Phase.LOAD), ca))
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    for core in ("A", "E"):
        run = place.result(over_tls(order(core), ca))
        assert run["errors"] == {}
        assert sum(run["operations"].values()) > 0
        assert run["remotes"] == ["127.0.0.1:6379"]
        (way,) = run["encryption"]
        assert way.startswith(f"{protocol} TLS")
        assert way.endswith(", certificate checked")


def test_what_is_not_encrypted_says_so(place: Place) -> None:
    place.start(6379)
    assert place.result(order(phase=Phase.LOAD))["encryption"] == []


def test_a_certificate_of_somebody_else_is_refused_unless_any_will_do(
    place: Place, authority: Authority
) -> None:
    encrypted(place, authority)
    theirs = place.directory / "theirs.pem"
    theirs.write_bytes(Authority("theirs").certificate)
    said = place.refused(over_tls(order("C", timeout=0.5), theirs))
    assert "`127.0.0.1:6379`: no TLS with it: invalid peer certificate: UnknownIssuer" in said
    result = place.result(over_tls(order(phase=Phase.LOAD), None, insecure=True))
    assert result["errors"] == {}
    (way,) = result["encryption"]
    assert way.endswith(", certificate not checked")


def test_a_certificate_must_be_for_the_host_or_for_the_name_that_is_demanded(
    place: Place, authority: Authority
) -> None:
    encrypted(place, authority, names=("redis.test",))
    ca = place.directory / "ca.pem"
    for name in (None, "other.test"):
        said = place.refused(over_tls(order("C", timeout=0.5), ca, name))
        assert "certificate not valid for name" in said
    assert place.result(over_tls(order(phase=Phase.LOAD), ca, "redis.test"))["errors"] == {}


def test_those_whom_the_host_trusts_are_believed(place: Place, authority: Authority) -> None:
    encrypted(place, authority)
    content = over_tls(order(phase=Phase.LOAD), None)
    trusted = {"SSL_CERT_FILE": str(place.directory / "ca.pem")}
    assert place.result(content, **trusted)["errors"] == {}
    said = place.refused(content, SSL_CERT_FILE="/nowhere/ca.pem")
    assert "no certificates to trust from `/nowhere/ca.pem`" in said


@pytest.mark.usefixtures("authority")
def test_a_password_is_never_sent_in_the_open_where_tls_is_demanded(place: Place) -> None:
    place.password = PASSWORD
    place.start(6379, lines=ONE_PASSWORD)
    asked = place.calls(6379, "auth")
    content = as_user(order("C", timeout=0.5), None, kept(place, PASSWORD))
    said = place.refused(over_tls(content, place.directory / "ca.pem"))
    assert "no connection" in said
    # redis-cli logged in once, to ask how often this was done, and once more to ask again.
    assert place.calls(6379, "auth") == asked + 1


def test_every_server_of_a_cluster_is_reached_by_tls_and_password(
    place: Place, authority: Authority
) -> None:
    place.password = PASSWORD
    ports = (6379, 6380, 6381)
    options = ("--cluster-enabled", "yes", "--tls-cluster", "yes", "--tls-replication", "yes")
    for port in ports:
        encrypted(place, authority, *options, port=port, lines=ONE_PASSWORD)
    place.cluster(ports, replicas=0)
    ca, password = place.directory / "ca.pem", kept(place, PASSWORD)
    for phase in (Phase.LOAD, Phase.RUN):
        content = as_user(order("E", phase, topology="cluster"), None, password)
        result = place.result(over_tls(content, ca))
        assert result["errors"] == {}
        assert result["remotes"] == [f"127.0.0.1:{port}" for port in ports]
        (way,) = result["encryption"]
        assert way.endswith(", certificate checked")


def test_no_file_message_or_command_line_holds_a_password(place: Place) -> None:
    said: list[str] = []
    place.password = PASSWORD
    place.start(6379, lines=ONE_PASSWORD)
    password = kept(place, PASSWORD)
    loading = as_user(order(phase=Phase.LOAD), None, password)
    running = as_user(order("A", duration=60.0), None, {"variable": VARIABLE})
    running |= {"until_told": True, "warmup": 0.0}
    for content in (loading, running):
        out, engine = place.engine(content, **{VARIABLE: PASSWORD})
        place.until((out / "latency.hlog").exists, "the load")
        command = Path(f"/proc/{engine.pid}/cmdline")
        told = command.read_text() if engine.poll() is None else ""
        if content is running:
            engine.terminate()
        said += [told, *engine.communicate()]
        assert engine.returncode == 0
    assert "--plan" in said[3], "a command line was read"

    wrong = as_user(order("C", timeout=0.5), None, {"variable": VARIABLE})
    refused = place.refused(wrong, **{VARIABLE: f"{MARK}-3"})
    assert "WRONGPASS" in refused
    # A server that does not know the command quotes it, with the password.
    place.start(6380, lines=('rename-command AUTH ""',))
    elsewhere = targeted(wrong, addresses=["127.0.0.1:6380"])
    quoted = place.refused(elsewhere, **{VARIABLE: PASSWORD})
    assert "ERR unknown command 'AUTH', with args beginning with: '***'" in quoted
    missing = place.refused(wrong)
    assert f"no password from the environment variable `{VARIABLE}`" in missing
    printed = subprocess.run(
        [str(engine_path()), "operations", "--plan", str(out / "plan.json"), "--count", "9"],
        check=True,
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {VARIABLE: PASSWORD},
    )
    assert printed.stdout.count("\n") == 9
    said += [refused, quoted, missing, printed.stdout, printed.stderr]
    assert [text for text in said if MARK in text] == []

    # The server's own configuration and the file of the password are where it is meant to be.
    holding = {
        path.relative_to(place.directory).as_posix()
        for path in place.directory.rglob("*")
        if path.is_file() and MARK.encode() in path.read_bytes()
    }
    assert holding == {"6379/redis.conf", "password"}
