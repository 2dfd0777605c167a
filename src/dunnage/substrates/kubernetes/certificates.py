"""Certificates of a Kubernetes, and their keys, which exist in memory until a host is given them.

Names and groups are those that the API server takes users from: the common name is the user, each
organisation a group (`x509` authentication). Keys are on the curve P-256.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LASTS = timedelta(days=365)
_CLOCKS = timedelta(hours=1)
"""What another clock may lag behind."""


@dataclass(frozen=True)
class Credentials:
    """A certificate and its key, both in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


class Authority:
    """Signs certificates; whoever trusts its own believes them."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        begun = _signed_by(self._name, self._name, self._key.public_key())
        usage = _usage(signature=False, signing=True)
        certificate = (
            begun.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)
        """Its own, in PEM."""

    def client(self, user: str, groups: Sequence[str] = ()) -> Credentials:
        """For one who asks, by a user's name and groups."""
        return self._issue(_name(user, groups), (ExtendedKeyUsageOID.CLIENT_AUTH,), ())

    def server(self, name: str, hosts: Sequence[str], groups: Sequence[str] = ()) -> Credentials:
        """For one who answers at any of these addresses and names."""
        return self._issue(_name(name, groups), (ExtendedKeyUsageOID.SERVER_AUTH,), hosts)

    def both(self, name: str, hosts: Sequence[str]) -> Credentials:
        """For one who answers there and asks its like, as members of an etcd do."""
        uses = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
        return self._issue(_name(name), uses, hosts)

    def _issue(
        self, subject: x509.Name, uses: Sequence[x509.ObjectIdentifier], hosts: Sequence[str]
    ) -> Credentials:
        key = ec.generate_private_key(ec.SECP256R1())
        begun = (
            _signed_by(self._name, subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signature=True, signing=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        )
        if hosts:
            names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
            begun = begun.add_extension(names, critical=False)
        certificate = begun.sign(self._key, hashes.SHA256())
        return Credentials(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))


def signing_keys() -> tuple[bytes, bytes]:
    """The private and the public key that tokens of service accounts are signed with, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _pem(key), public


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _name(common: str, organisations: Sequence[str] = ()) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organisations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _signed_by(
    issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS)
        .not_valid_after(now + _LASTS)
    )


def _usage(*, signature: bool, signing: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signature,
        key_cert_sign=signing,
        crl_sign=signing,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
