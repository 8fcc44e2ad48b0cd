"""TLS: a host must show a certificate for its name that someone trusted has signed."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from sites import OPEN, STUB, Crawl, Site, crawl, page, serving, stubbed

REFUSED = "robots.txt cannot be read: TLS certificate or handshake refused"
NAMES = {"right.test": ["127.0.0.1"], "wrong.test": ["127.0.0.1"]}


class Signer:
    """A certificate authority of the test's own."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A test's own authority")])
        self.certificate = self.sign(self.key.public_key(), self.name, x509.BasicConstraints(True, None))

    def sign(self, key: ec.EllipticCurvePublicKey, name: x509.Name, *more: x509.ExtensionType, days: int = 1) -> bytes:
        """A certificate as PEM, which ends so many days from now."""
        ends = datetime.now(UTC) + timedelta(days=days)
        builder = x509.CertificateBuilder().issuer_name(self.name).subject_name(name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_after(ends)
        builder = builder.not_valid_before(ends - timedelta(days=2))
        for extension in more:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def server(self, folder: Path, name: str = "right.test", days: int = 1) -> ssl.SSLContext:
        """How a server presents itself under a name, or an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            named: x509.GeneralName = x509.IPAddress(ip_address(name))
        except ValueError:
            named = x509.DNSName(name)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self.sign(key.public_key(), subject, x509.SubjectAlternativeName([named]), days=days)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = folder / f"{name}.pem"
        path.write_bytes(private + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def crawled(
    folder: Path, tls: ssl.SSLContext, trusted: Signer, host: str = "right.test", **settings: str
) -> tuple[Crawl, Site]:
    """A crawl of a site under this name, with one authority that is trusted."""
    (folder / "trusted.pem").write_bytes(trusted.certificate)
    env = stubbed(folder, NAMES) | {"SSL_CERT_FILE": str(folder / "trusted.pem")}
    with serving(Site({"/": page("Hello.")}), tls=tls) as site:
        seed = site.url.replace("127.0.0.1", host)
        return crawl(folder, {"seeds": seed}, OPEN | STUB | settings, env=env), site


@pytest.mark.parametrize("host", ["right.test", "127.0.0.1"])
def test_a_certificate_for_the_host_by_someone_trusted_is_accepted(tmp_path: Path, host: str) -> None:
    signer = Signer()
    ended, site = crawled(tmp_path, signer.server(tmp_path, host), signer, host)
    assert site.paths() == ["/robots.txt", "/"]
    assert (ended.status, len(ended.items())) == (0, 1)


UNTRUSTED = {
    "by nobody trusted": (False, "right.test", 1),
    "for another name": (True, "wrong.test", 1),
    "that has ended": (True, "right.test", -1),
}


@pytest.mark.parametrize(("known", "name", "days"), UNTRUSTED.values(), ids=UNTRUSTED)
def test_another_certificate_is_refused_unless_none_is_checked(
    tmp_path: Path, known: bool, name: str, days: int
) -> None:
    signer = Signer()
    trusted = signer if known else Signer()
    tls = signer.server(tmp_path, name, days)
    ended, site = crawled(tmp_path, tls, trusted)
    assert (ended.status, ended.items(), site.asked) == (1, [], [])
    assert ended.counts() == {REFUSED: 1}
    assert f": {REFUSED}\n" in ended.closing()
    (tmp_path / "unchecked").mkdir()
    ended, site = crawled(tmp_path / "unchecked", tls, trusted, DOWNLOAD_VERIFY_CERTIFICATES="False")
    assert site.paths() == ["/robots.txt", "/"]
    assert (ended.status, len(ended.items())) == (0, 1)
