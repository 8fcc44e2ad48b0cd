"""Certificates of the tests' own."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Signer:
    """A certificate authority."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A test's own authority")])
        self.certificate = self.sign(self.key.public_key(), self.name, x509.BasicConstraints(True, None), days=30)

    def sign(self, key: ec.EllipticCurvePublicKey, name: x509.Name, *more: x509.ExtensionType, days: int = 1) -> bytes:
        """A certificate as PEM, which ends so many days from now."""
        ends = datetime.now(UTC) + timedelta(days=days)
        builder = x509.CertificateBuilder().issuer_name(self.name).subject_name(name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_after(ends)
        builder = builder.not_valid_before(datetime.now(UTC) - timedelta(days=3))
        for extension in more:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def server(self, folder: Path, name: str = "right.test", days: int = 1, others: int = 0) -> ssl.SSLContext:
        """How a server presents itself under a name, or an address, and so many other names."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            named: x509.GeneralName = x509.IPAddress(ip_address(name))
        except ValueError:
            named = x509.DNSName(name)
        names = [*(x509.DNSName(f"{number}.{'x' * 50}.test") for number in range(others)), named]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self.sign(key.public_key(), subject, x509.SubjectAlternativeName(names), days=days)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = folder / f"{name}.pem"
        path.write_bytes(private + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context
