"""A crawl of hosts behind walls against robots: nothing of the walls is kept, and the other pages are."""

import gzip
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from short_backoff import HURRIED
from sites import OPEN, Answer, Crawl, Site, crawl, page, serving
from wall_pages import FAILED, KEPT, WALLS, Response

from crawler.outcomes import Code, Outcome
from crawler.urls.address import address_of

TIMES = 2
SETTINGS = OPEN | HURRIED
SETTINGS |= {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8", "CONCURRENT_REQUESTS_PER_DOMAIN": "1", "RETRY_ENABLED": "False"}
SETTINGS |= {"HURRIED_DELAY": "0.05", "HURRIED_TIMES": str(TIMES), "DUPEFILTER_DEBUG": "False"}
TEXT = "The keeper of this hive wrote down each morning what the bees brought home, and how heavy the combs had become."
WALLED_PAGES = ("/1", "/2", "/3")
CLOUDFLARE, ANUBIS = WALLS["cloudflare 200"][1], WALLS["anubis"][1]
STATE = "gone_at, gone_count, changed_round, first_round, text_fingerprint IS NULL, length(text) > 0, checks, changes"
NO_RULES = Answer("", 404)
WITHOUT_TEXT = "application that loads reCAPTCHA"


def answer(response: Response, is_compressed: bool = False) -> Answer:
    body = gzip.compress(response.body.encode()) if is_compressed else response.body
    coding = {"Content-Encoding": "gzip"} if is_compressed else {}
    return Answer(body, response.status, response.content_type, dict(response.headers) | coding)


def outcomes(folder: Path) -> dict[str, str]:
    """The outcomes of all addresses that were not stored, by address."""
    database = sqlite3.connect(folder / "output" / "crawl.db")
    rows = database.execute(
        "SELECT host.name, address.url, outcome, outcome_detail FROM address JOIN host ON host.id = host_id "
        "WHERE outcome IS NOT NULL"
    ).fetchall()
    database.close()
    return {url: str(Outcome(Code(code), detail or "")) for _, url, code, detail in rows}


@dataclass
class Crawled:
    ended: Crawl
    walled: Mapping[str, Site]
    """A site for each wall, whose first page is none."""
    others: Mapping[str, Site]
    outcomes: Mapping[str, str]

    def codes(self, site: Site) -> Counter[str]:
        """How often each outcome was that of an address of a site."""
        return Counter(why for url, why in self.outcomes.items() if address_of(url).host == address_of(site.url).host)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("walls")
    walled = {
        name: Site(
            {"/": page(TEXT, links=dict.fromkeys(WALLED_PAGES, "page")), "/robots.txt": NO_RULES}
            | dict.fromkeys(WALLED_PAGES, answer(response, is_compressed=bool(number % 2 and response.body)))
        )
        for number, (name, (_, response)) in enumerate(WALLS.items())
    }
    kept = {f"/kept{number}": answer(response) for number, response in enumerate(KEPT.values())}
    failed = {"/403": answer(FAILED["nginx 403"]), "/402": answer(FAILED["402"]), "/free": Answer("<p>Pay.</p>", 402)}
    others = {
        "kept": Site({"/": page(TEXT, links=dict.fromkeys((*kept, *failed), "page")), **kept, **failed}),
        "robots": Site({"/": page(TEXT), "/robots.txt": answer(CLOUDFLARE)}),
        "seed": Site({"/": answer(ANUBIS), "/robots.txt": NO_RULES}),
        "passing": Site({"/": lambda asked: Answer(page(TEXT)) if asked.times else answer(CLOUDFLARE)}),
    }
    with ExitStack() as served:
        for number, site in enumerate((*walled.values(), *others.values()), 1):
            served.enter_context(serving(site, f"127.0.1.{number}"))
        seeds = " ".join(site.url for site in (*walled.values(), *others.values()))
        ended = crawl(folder, {"seeds": seeds, "images": "no", "render": "never"}, SETTINGS, timeout=240)
        yield Crawled(ended, walled, others, outcomes(folder))


def test_no_wall_is_kept_and_all_other_pages_are(crawled: Crawled) -> None:
    ours = {site.url for site in crawled.walled.values()}
    kept = crawled.others["kept"].url
    with_text = [number for number, name in enumerate(KEPT) if name != WITHOUT_TEXT]
    ours |= {kept, crawled.others["passing"].url} | {f"{kept}kept{number}" for number in with_text}
    assert {item["url"] for item in crawled.ended.items()} == ours
    assert crawled.ended.status == 0


def test_the_host_is_paused_and_then_given_up(crawled: Crawled) -> None:
    for name, site in crawled.walled.items():
        service, wall = WALLS[name]
        if wall.status < 300:
            assert crawled.codes(site) == {f"walled/{service}": 3}, name
            assert len(site.paths("/robots.txt")) == 1 + 2 * 3, name
        else:
            assert crawled.codes(site) == {f"walled/{service}": 1, f"host_walled/{service}": 2}, name
            assert len(site.paths("/robots.txt")) == 1 + 1 + TIMES, name


def test_other_outcomes(crawled: Crawled) -> None:
    kept = crawled.others["kept"]
    refused = {"http_status/403": 1, "payment_required/USD 0.01": 1, "payment_required": 1}
    assert crawled.codes(kept) == refused | {"no_text": 1}
    assert kept.paths().count("/403") == 1
    assert crawled.codes(crawled.others["robots"]) == {"robots_unreadable/walled/Cloudflare": 1}
    assert crawled.others["robots"].paths() == ["/robots.txt"]
    assert crawled.codes(crawled.others["seed"]) == {"walled/Anubis": 1}
    assert crawled.others["passing"].paths("/robots.txt") == ["/", "/"]


def test_the_closing_lines_name_hosts_and_services(crawled: Crawled) -> None:
    line = next(line for line in crawled.ended.closing().splitlines() if line.startswith("Behind walls"))
    assert f"{address_of(crawled.others['robots'].url).host} (Cloudflare)" in line
    walled = {f"{address_of(site.url).host} ({WALLS[name][0]})" for name, site in crawled.walled.items()}
    named = line.partition(": ")[2].rstrip(".").split(", ")
    assert len(named) == 11
    assert len(walled.intersection(named)) >= 8


def test_a_known_page_behind_a_wall_keeps_its_state(tmp_path: Path) -> None:
    links = {"/bees": "bees", "/honey": "honey"}
    site = Site({"/": page(TEXT, links=links), "/bees": page(f"{TEXT} Here are the bees."), "/honey": page(TEXT * 2)})
    with serving(site):
        arguments = {"seeds": site.url, "images": "no", "render": "never"}
        crawl(tmp_path, arguments, SETTINGS | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"})
        site.routes |= {"/bees": answer(CLOUDFLARE), "/honey": Answer("<p>Not now.</p>", 500)}
        crawl(tmp_path, arguments | {"refresh": "all"}, SETTINGS)
    database = sqlite3.connect(tmp_path / "output" / "crawl.db")
    rows = {url.rpartition("/")[2]: row for url, *row in database.execute(f"SELECT url, {STATE} FROM page")}
    database.close()
    assert outcomes(tmp_path)[f"{site.url}bees"] == "walled/Cloudflare"
    assert rows["bees"] == rows["honey"]  # as after an error of its server
    assert rows["bees"][:2] == [None, 0]
