"""What is kept of robots.txt, and the rights of pages that are visited again."""

import json
from typing import Any

from sqlalchemy import select, update
from store_workers import Crew, Worker, also, candidates, stored
from test_rounds import again, checked, first_round

from crawler.frontier.page_result import AddressKind
from crawler.recrawl.page_history import PageChange
from crawler.rights.robots_file import RobotsFile, read_robots
from crawler.store.batch.responses import zstd
from crawler.store.deletion import delete_crawl
from crawler.store.page_changes import last_offset
from crawler.store.page_tables import page, page_change, robots_file

SEEDS = ("http://a.example/", "http://b.example/", "http://c.example/")
ONE, OTHER = b"User-agent: *\nAllow: /\n", b"User-agent: *\nDisallow: /a\x00\xff"


def robots(body: bytes, host: str = "a.example") -> RobotsFile:
    return read_robots(body, f"http://{host}/robots.txt", "then")


def rows(crew: Crew) -> dict[str, tuple[str, bytes]]:
    """The files that are kept, by their digests, each with where it was read first."""
    with crew.engine.connect() as connection:
        found = connection.execute(select(robots_file)).mappings().all()
    return {row["digest"]: (row["first_url"], zstd.decompress(row["body"])) for row in found}


def seeded(crew: Crew, **more: Any) -> Worker:
    return crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS, **more)


def test_each_different_file_is_kept_once(crew: Crew) -> None:
    one = seeded(crew)
    held = sorted(one.claim(), key=lambda lease: lease.candidate.url)
    files = (robots(ONE), robots(ONE, "b.example"), robots(OTHER, "c.example"))
    for lease, file in zip(held, files, strict=True):
        one.end(also(stored(lease), robots=file))
    kept = rows(crew)
    assert sorted(body for _, body in kept.values()) == sorted((ONE, OTHER))
    assert kept[files[0].digest][0] == "http://a.example/robots.txt"
    # Another worker knows nothing of it, and the row is there.
    one.leave()
    other = seeded(crew, fresh=True)
    other.end(*(also(stored(lease), robots=files[0]) for lease in other.claim()))
    assert rows(crew) == kept
    other.leave()
    delete_crawl(crew.engine.url, "crawl")
    assert rows(crew) == {}


def rights(**said: str) -> dict[str, Any]:
    evidence = [{"signal": "rsl", "where": "", "says": said.get("says", ""), "read_at": said.get("read_at", "now")}]
    return {"licence": said.get("licence"), "uses": {}, "evidence": evidence}


def test_rights_that_changed_while_the_text_did_not(crew: Crew) -> None:
    first_round(crew, *candidates(*SEEDS, "http://d.example/", kind=AddressKind.SEED))
    crew.change(update(page).values(rights=json.dumps(rights())))
    with crew.engine.connect() as connection:
        before = last_offset(connection)
    worker = again(crew, everything=True)
    found = (rights(licence="MIT"), None, rights(read_at="later"), rights(says="no"))
    held = sorted(worker.claim(), key=lambda lease: lease.candidate.url)
    worker.end(*(also(checked(one, PageChange.SAME), rights=said) for one, said in zip(held, found, strict=True)))
    with crew.engine.connect() as connection:
        kept = connection.execute(select(page.c.rights).order_by(page.c.url)).scalars().all()
        changed = select(page.c.url).join(page_change, page_change.c.key == page.c.key)
        changes = connection.execute(changed.where(page_change.c.offset > before).order_by(page.c.url)).scalars().all()
    assert [json.loads(one) for one in kept] == [rights(licence="MIT"), rights(), rights(), rights(says="no")]
    assert changes == ["http://a.example/", "http://d.example/"]
