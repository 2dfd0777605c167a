"""Who believes whom in a Kubernetes of ours."""

from __future__ import annotations

import base64
import ipaddress
import json
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dunnage.substrates.kubernetes.certificates import Authority, Credentials, signing_keys
from dunnage.substrates.kubernetes.kubeconfigs import kubeconfig, write_kubeconfig


def parsed(credentials: Credentials) -> x509.Certificate:
    """The certificate, whose key must be the one that goes with it."""
    certificate = x509.load_pem_x509_certificate(credentials.certificate)
    key = load_pem_private_key(credentials.key, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert certificate.public_key() == key.public_key()
    return certificate


def uses(certificate: x509.Certificate) -> set[x509.ObjectIdentifier]:
    return set(certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)


def test_a_client_is_who_its_certificate_names_and_may_not_answer() -> None:
    authority = Authority("dunnage")
    certificate = parsed(authority.client("system:node:db-1", ("system:nodes",)))
    names = {
        kind: [str(each.value) for each in certificate.subject.get_attributes_for_oid(kind)]
        for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
    }
    assert names == {
        NameOID.COMMON_NAME: ["system:node:db-1"],
        NameOID.ORGANIZATION_NAME: ["system:nodes"],
    }
    assert uses(certificate) == {ExtendedKeyUsageOID.CLIENT_AUTH}
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate))


def test_a_server_is_believed_at_its_addresses_and_names_only() -> None:
    authority = Authority("dunnage")
    certificate = parsed(authority.server("kube-apiserver", ("10.77.0.5", "kubernetes")))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("10.77.0.5")]
    assert names.get_values_for_type(x509.DNSName) == ["kubernetes"]
    assert uses(certificate) == {ExtendedKeyUsageOID.SERVER_AUTH}
    both = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
    assert uses(parsed(authority.both("etcd", ("127.0.0.1",)))) == both


def test_an_authority_signs_for_itself_and_for_nobody_who_signs() -> None:
    authority, other = Authority("dunnage"), Authority("dunnage")
    own = x509.load_pem_x509_certificate(authority.certificate)
    limits = own.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert (limits.ca, limits.path_length) == (True, 0)
    issued = parsed(authority.client("someone"))
    assert not issued.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    with pytest.raises(InvalidSignature):
        issued.verify_directly_issued_by(x509.load_pem_x509_certificate(other.certificate))


def test_no_key_is_shown_where_credentials_are() -> None:
    credentials = Authority("dunnage").client("someone")
    assert "PRIVATE" not in repr(credentials)
    assert b"PRIVATE KEY" in credentials.key


def test_tokens_are_signed_with_a_pair_of_keys() -> None:
    private, public = signing_keys()
    key = load_pem_private_key(private, None)
    assert key.public_key() == load_pem_public_key(public)


def test_a_kubeconfig_is_for_one_user_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    authority = Authority("dunnage")
    credentials = authority.client("admin")
    file = tmp_path / "lab" / "kubeconfig"
    file.parent.mkdir()
    file.touch(0o644)
    file.parent.chmod(0o700)
    write_kubeconfig(
        file, kubeconfig("https://10.77.0.5:6443", authority.certificate, "admin", credentials)
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    told = json.loads(file.read_text())
    (cluster,), (user,) = told["clusters"], told["users"]
    assert cluster["cluster"]["server"] == "https://10.77.0.5:6443"
    assert base64.b64decode(cluster["cluster"]["certificate-authority-data"]) == (
        authority.certificate
    )
    assert base64.b64decode(user["user"]["client-key-data"]) == credentials.key
    assert user["name"] == "admin"
    assert told["current-context"] == told["contexts"][0]["name"]
