"""The small internet served to crawls: certificates, names, and the arguments of a crawl of each part."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fork_server import environment
from internet import Internet
from internet_server import Server, serving, tls_by_name
from signer import Signer
from sites import stubbed


@dataclass(frozen=True)
class Served:
    """An internet that is served."""

    web: Internet
    server: Server
    environment: Mapping[str, str]
    """Of crawls."""

    def arguments(self, part: int) -> dict[str, str]:
        return {"seeds": self.web.seed(part), "scope": "any", "render": "never", "images": "no"}


@contextmanager
def served(web: Internet, folder: Path, wall: Callable[[], float] = time.time) -> Iterator[Served]:
    """The internet, with what its crawls need in a folder."""
    trusted, unknown = Signer(), Signer()
    (folder / "trusted.pem").write_bytes(trusted.certificate)
    files = {}
    for host in web.hosts.values():
        if host.is_tls:
            signer = unknown if host.certificate == "unknown" else trusted
            name = f"other.{host.name}" if host.certificate == "misnamed" else host.name
            signer.server(folder, name, days=-1 if host.certificate == "expired" else 30)
            files[host.name] = folder / f"{name}.pem"
    names = web.names()
    addresses = sorted({one for found in names.values() for one in found if one.startswith("127.")})
    server = Server(web.answer, wall)
    with serving(server, addresses, tls_by_name(files)):
        web.port, web.tls_port = server.port, server.tls_port
        more = {"SCRAPY_SETTINGS_MODULE": "internet_settings", "SSL_CERT_FILE": str(folder / "trusted.pem")}
        yield Served(web, server, environment() | stubbed(folder, names) | more)
