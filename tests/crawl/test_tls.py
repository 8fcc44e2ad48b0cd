"""TLS: a host must show a certificate for its name that someone trusted has signed."""

import ssl
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from signer import Signer
from sites import COUNTED, STUB, Crawl, Site, crawl, page, serving, stubbed

from crawler.outcomes import Code, Outcome

REFUSED = Outcome(Code.ROBOTS_UNREADABLE, Code.TLS_REFUSED)
NAMES = {"right.test": ["127.0.0.1"], "wrong.test": ["127.0.0.1"]}


def crawled(
    folder: Path, trusted: Signer, *contexts: ssl.SSLContext, host: str = "right.test", **settings: str
) -> tuple[Crawl, list[Site]]:
    """A crawl of a site for each context, all under this name, with one authority that is trusted."""
    folder.mkdir(exist_ok=True)
    (folder / "trusted.pem").write_bytes(trusted.certificate)
    env = stubbed(folder, NAMES) | {"SSL_CERT_FILE": str(folder / "trusted.pem")}
    with ExitStack() as served:
        sites = [served.enter_context(serving(Site({"/": page("Hello.")}), tls=tls)) for tls in contexts]
        seeds = " ".join(site.url.replace("127.0.0.1", host) for site in sites)
        return crawl(folder, {"seeds": seeds}, COUNTED | STUB | settings, env=env), sites


@pytest.mark.parametrize("host", ["right.test", "127.0.0.1"])
def test_a_certificate_for_the_host_by_someone_trusted_is_accepted(tmp_path: Path, host: str) -> None:
    signer = Signer()
    ended, [site] = crawled(tmp_path, signer, signer.server(tmp_path, host), host=host)
    assert site.paths() == ["/robots.txt", "/"]
    assert (ended.status, len(ended.items())) == (0, 1)


def test_a_pause_begins_when_the_connection_is_there(tmp_path: Path) -> None:
    signer = Signer()
    tls = signer.server(tmp_path)
    tls.sni_callback = lambda *_: time.sleep(0.5)  # in the handshake
    _, [site] = crawled(tmp_path, signer, tls, CONCURRENT_REQUESTS_PER_DOMAIN="1", DOWNLOAD_DELAY="0.6")
    robots, front = site.asked
    assert front.at - robots.at > 0.5


UNTRUSTED = {
    "by nobody trusted": (False, "right.test", 1),
    "for another name": (True, "wrong.test", 1),
    "that has ended": (True, "right.test", -1),
}


def test_another_certificate_is_refused_unless_none_is_checked(tmp_path: Path) -> None:
    trusted, other = Signer(), Signer()
    contexts = [
        (trusted if is_trusted else other).server(tmp_path, name, days) for is_trusted, name, days in UNTRUSTED.values()
    ]
    ended, sites = crawled(tmp_path, trusted, *contexts)
    assert (ended.status, ended.items(), [site.asked for site in sites]) == (1, [], [[]] * len(UNTRUSTED))
    assert ended.outcomes() == {str(REFUSED): len(UNTRUSTED)}
    assert ended.closing().count(f": {REFUSED.message}\n") == len(UNTRUSTED)
    ended, sites = crawled(tmp_path / "unchecked", trusted, *contexts, DOWNLOAD_VERIFY_CERTIFICATES="False")
    assert [site.paths() for site in sites] == [["/robots.txt", "/"]] * len(UNTRUSTED)
    assert (ended.status, len(ended.items())) == (0, len(UNTRUSTED))


@pytest.mark.parametrize(("others", "is_read"), [(1_200, True), (1_800, False)], ids=["80 kB", "120 kB"])
def test_a_certificate_is_read_up_to_a_size(tmp_path: Path, others: int, is_read: bool) -> None:
    """OpenSSL reads 100 KiB."""
    signer = Signer()
    ended, [site] = crawled(tmp_path, signer, signer.server(tmp_path, others=others))
    assert (len(ended.items()), bool(site.asked)) == (is_read, is_read)
    assert ended.outcomes() == ({} if is_read else {str(REFUSED): 1})
