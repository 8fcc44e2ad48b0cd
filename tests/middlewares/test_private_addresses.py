"""The guard: no address that is not public is connected to, however it is spelled and whatever leads there."""

from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sites import OPEN, STUB, Answer, Asked, Crawl, Route, Site, crawl, page, serving, stubbed

from crawler.middlewares.private_addresses import PublicResolver
from crawler.outcomes import Code, Outcome
from crawler.urls.public_hosts import AllowList

# Names, and the addresses a name server gives for them.
NAMES = {
    "private.test": ["10.0.0.1"],
    "all-private.test": ["192.168.0.1", "172.16.0.1", "fd00::1"],
    "link-local.test": ["169.254.169.254", "fe80::1"],
    "shared.test": ["100.64.0.1"],
    "nothing.test": ["0.0.0.0", "::"],
    "multicast.test": ["224.0.0.1", "ff02::1"],
    "broadcast.test": ["255.255.255.255"],
    "documentation.test": ["192.0.2.1", "2001:db8::1"],
    "unique-local.test": ["fc00::1"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "translated.test": ["64:ff9b::a00:1", "2002:a00:1::1"],
    "loopback.test": ["127.0.0.1", "::1"],
    "localhost": ["127.0.0.1", "::1"],
}
BOTH = {"both.test": ["10.0.0.1", "93.184.216.34", "127.0.0.1", "2606:2800::1", "fd00::1"]}
# The same without any name server.
NUMBERS = [
    "10.0.0.1",
    "167772161",
    "0xa000001",
    "012.1",
    "10.1",
    "127.0.0.1",
    "0x7f.1",
    "017700000001",
    "127.1",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[fe80::1]",
    "169.254.169.254",
]
# Addresses of this machine as a page may write them; {port} is that of a site.
SPELLINGS = [
    *("http://localhost.:{port}/", "http://LocalHost:{port}/", "http://loopback.test.:{port}/"),
    *("http://127.0.0.1.:{port}/", "http://127.000.000.001:{port}/", "http://0177.0.0.01:{port}/"),
    *("http://0X7F000001:{port}/", "http://0x7f.0.1:{port}/", "http://2130706433.:{port}/"),
    *("http://１２７.0.0.1:{port}/", "http://127。0。0。1:{port}/", "http://①②⑦.⓪.⓪.①:{port}/"),
    *("http://ⓛoopback.test:{port}/", "http://%31%32%37.0.0.1:{port}/", "http://127.0.0.1%2e:{port}/"),
    *("http://[0:0:0:0:0:ffff:7f00:1]:{port}/", "http://[::127.0.0.1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/"),
    *("http://[64:ff9b:1::7f00:1]:{port}/", "http://[2002:7f00:1::]:{port}/", "http://[::1%25lo]:{port}/"),
    *("http://[2001:0:808:808::80ff:fffe]:{port}/", "http://[::FFFF:127.0.0.1]:{port}/", "http://[::1%lo]:{port}/"),
    *("http://public.test@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@public.test/", "http://a:b@[::1]:{port}/"),
    *("http:127.0.0.1:{port}/", "http:/127.0.0.1:{port}/", "http:\\\\127.0.0.1:{port}/", "//127.0.0.1:{port}/"),
    *("HTTP://127.0.0.1:{port}/", "ht\ntp://127.0.0.1:{port}/", "http://127.0.0.1:{port}#@public.test/"),
    *("http://127.0.0.1\t:{port}/", " http://127.0.0.1:{port}/ ", "http://127.0.0.1%00.public.test:{port}/"),
]
REFUSED = str(Outcome(Code.NOT_PUBLIC).message)


SAFE = "".join(map(chr, range(33, 127)))
"""What a header may hold."""


def connections(folder: Path) -> Counter[str]:
    """Where the crawl connected to, or tried to."""
    record = folder / "connections"
    return Counter(record.read_text().splitlines()) if record.exists() else Counter()


def guarded(
    folder: Path, seeds: list[str], routes: dict[str, Route] | None = None, allowed: str = "{host}"
) -> tuple[Crawl, Site]:
    """A crawl on stubs of these seeds; {host} is the name and port of a site with these routes."""
    with serving(Site(routes or {})) as site:
        name = site.url.split("/")[2]
        seeds = [seed.format(host=name, port=name.partition(":")[2]) for seed in seeds]
        settings = OPEN | STUB | {"STATS_DUMP": "True", "ALLOWED_PRIVATE_HOSTS": allowed.format(host=name)}
        arguments = {"seeds": " ".join(seeds), "scope": "any"}
        return crawl(folder, arguments, settings, env=stubbed(folder, NAMES | BOTH)), site


@pytest.mark.parametrize("hosts", [list(NAMES), NUMBERS], ids=["names", "numbers"])
def test_seeds_without_a_public_address_are_refused(tmp_path: Path, hosts: list[str]) -> None:
    ended, site = guarded(tmp_path, [f"http://{host}:{{port}}/" for host in hosts], allowed="")
    assert connections(tmp_path) == {}
    assert site.asked == []
    assert ended.counts() == {REFUSED: len(hosts)}
    assert ended.closing().count(f": {REFUSED}\n") == len(hosts)
    assert "ALLOWED_PRIVATE_HOSTS" in ended.closing()
    assert "retry/count" not in ended.err
    assert ended.status == 1


@pytest.mark.long
def test_links_and_redirects_without_a_public_address_are_refused(tmp_path: Path) -> None:
    """Only the one site that is opened by name and port is asked; the same port under other names is not."""
    hosts = [*NAMES, *NUMBERS]

    def urls(scheme: str, path: str) -> list[str]:
        return [f"{scheme}://{host}:{{port}}/{path}" for host in hosts]

    with serving(Site({})) as closed:
        port = closed.url.split(":")[2].strip("/")
        links = [url.format(port=port) for url in [*urls("http", "link"), *urls("https", "link")]]
        moved = [url.format(port=port) for url in urls("http", "moved")]
        routes: dict[str, Route] = {}
        for n, url in enumerate(moved):
            routes |= {f"/{n}": Answer("", 302, headers={"Location": f"/{n}/hop"})}
            routes |= {f"/{n}/hop": Answer("", 301, headers={"Location": url})}
        found = dict.fromkeys([*links, *(path for path in routes if "hop" not in path)], "on")
        ended, site = guarded(tmp_path, ["http://{host}/"], routes | {"/": page("Hello.", links=found)})
    assert closed.asked == []
    assert set(connections(tmp_path)) == {site.url.split("/")[2].replace(":", " ")}
    assert [item["url"] for item in ended.items()] == [site.url]
    assert ended.counts() == {REFUSED: 3 * len(hosts)}
    assert "retry/count" not in ended.err
    assert ended.status == 0


def test_no_spelling_of_an_address_leads_to_it(tmp_path: Path) -> None:
    with serving(Site({})) as closed:
        port = closed.url.split(":")[2].strip("/")
        hidden = [url.format(port=port) for url in SPELLINGS]
        moved: dict[str, Route] = {
            f"/{n}": Answer("", 302, headers={"Location": quote(url, safe=SAFE)}) for n, url in enumerate(hidden)
        }
        links = dict.fromkeys([*(url.replace("http", "https", 1) for url in hidden), *hidden], "on")
        seeds = ["http://{host}/", *(f"http://{{host}}{path}" for path in moved)]
        ended, site = guarded(tmp_path, seeds, moved | {"/": page("Hello.", links=links)})
    assert closed.asked == []
    assert set(connections(tmp_path)) == {site.url.split("/")[2].replace(":", " ")}
    assert [item["url"] for item in ended.items()] == [site.url]
    assert set(moved) <= set(site.paths())
    assert ended.counts()[REFUSED] > 20


def test_an_address_counts_that_is_connected_to_and_not_an_earlier_one(tmp_path: Path) -> None:
    """A name with an allowed address for robots.txt, and for the page with another one."""
    names = {"moves.test": [["127.0.0.2"], ["127.0.0.1"]]}
    robots = Answer("", headers={"Connection": "close"})
    with serving(Site({"/robots.txt": robots, "/": page("Hello.")}), "127.0.0.2") as site:
        seed = site.url.replace("127.0.0.2", "moves.test")
        settings = OPEN | STUB | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.2"}
        ended = crawl(tmp_path, {"seeds": seed}, settings, env=stubbed(tmp_path, names))
    assert site.paths() == ["/robots.txt"]
    assert {line.split()[0] for line in connections(tmp_path)} == {"127.0.0.2"}
    assert ended.counts() == {REFUSED: 1}


def test_a_failure_of_an_open_port_is_not_taken_for_the_refusal_of_another(tmp_path: Path) -> None:
    def break_connection(asked: Asked) -> Answer:
        raise ConnectionAbortedError

    found = {"http://127.0.0.1:1/": "closed", "/cut": "cut"}
    routes: dict[str, Route] = {"/": page("Hello.", links=found), "/cut": break_connection}
    ended, _ = guarded(tmp_path, ["http://{host}/"], routes)
    assert ended.counts() == {REFUSED: 1, "connection lost": 1}


def test_a_robots_txt_that_leads_to_an_address_that_is_not_public_is_refused(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/robots.txt": Answer("", 301, headers={"Location": "/robots2.txt"}),
        "/robots2.txt": Answer("", 301, headers={"Location": "http://private.test/robots.txt"}),
        "/": page("Hello."),
    }
    ended, site = guarded(tmp_path, ["http://{host}/"], routes)
    assert site.paths() == ["/robots.txt", "/robots2.txt"]
    assert set(connections(tmp_path)) == {site.url.split("/")[2].replace(":", " ")}
    assert ended.counts() == {REFUSED: 1}
    assert ended.status == 1


def test_of_a_name_with_public_and_private_addresses_the_public_ones_are_tried(tmp_path: Path) -> None:
    ended, site = guarded(tmp_path, ["http://both.test:{port}/"])
    assert {line.split()[0] for line in connections(tmp_path)} == {"93.184.216.34", "2606:2800::1"}
    assert site.asked == []
    assert ended.counts() == {str(Outcome(Code.ROBOTS_UNREADABLE, Code.CONNECTION_REFUSED).message): 1}


OPENED = {
    "the host and its port": ("{host}", "http://{host}/"),
    "the network": ("10.0.0.0/8,127.0.0.0/8", "http://{host}/"),
    "the name": (" Loopback.test , other.test", "http://loopback.test:{port}/"),
}


@pytest.mark.parametrize(("allowed", "seed"), OPENED.values(), ids=OPENED)
def test_a_host_is_opened_by_name_address_or_network(tmp_path: Path, allowed: str, seed: str) -> None:
    ended, site = guarded(tmp_path, [seed], {"/": page("Hello.")}, allowed)
    assert site.paths() == ["/robots.txt", "/"]
    assert ended.status == 0


CLOSED = {
    "another port": ("127.0.0.1:1", "http://{host}/"),
    "another name of it": ("localhost", "http://loopback.test:{port}/"),
}


@pytest.mark.parametrize(("allowed", "seed"), CLOSED.values(), ids=CLOSED)
def test_opening_one_host_opens_no_other(tmp_path: Path, allowed: str, seed: str) -> None:
    ended, site = guarded(tmp_path, [seed], {"/": page("Hello.")}, allowed)
    assert (ended.status, site.asked, connections(tmp_path)) == (1, [], {})


def test_an_address_is_open_to_all_crawls_of_a_process_or_to_none() -> None:
    rows = [
        (["10.0.0.1"], ["10.0.0.0/8"], True),
        (["10.0.0.1"], ["10.0.0.2"], False),
        (["10.0.0.1"], [], False),
        ([], [], False),
    ]
    for first, second, may_connect in rows:
        resolver = PublicResolver(None, AllowList(first))
        resolver.allow_lists.append(AllowList(second))
        assert resolver.may_connect("a.example", 80, "10.0.0.1") is may_connect
        assert resolver.may_connect("a.example", 80, "93.184.216.34")


class Receiver:
    """Takes what comes of a name that is looked up."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's names
        self.heard.append(resolution.name)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.heard.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802
        self.heard.append("complete")


def test_a_name_that_cannot_be_encoded_is_refused_at_once() -> None:
    rows = [("a..b", False), (".a", False), ("a" * 64, False), ("a" * 63, True), ("a_b.example", True), ("::1", True)]
    for name, asked in rows:

        class Asked:
            def resolveHostName(self, receiver: Any, name: str, *rest: Any) -> None:  # noqa: N802 - Twisted's name
                receiver.receiver.heard.append("asked")

        receiver = Receiver()
        PublicResolver(Asked(), AllowList([])).resolveHostName(receiver, name)
        assert receiver.heard == (["asked"] if asked else [name, "complete"])
