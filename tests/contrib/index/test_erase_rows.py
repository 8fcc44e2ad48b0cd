"""The rows of erased pages and hosts are deleted in both databases, and the books of the crawl are right afterwards."""

import json
from typing import Any

from sqlalchemy import Engine, func, insert, select
from store_workers import SEEDS, Crew, Worker, candidates, check, stored

from crawler.contrib.index.erase_rows import ErasedRows, erase_rows
from crawler.contrib.index.erasure_targets import erasure_targets
from crawler.frontier.page_result import AddressKind, Candidate, LessonKind
from crawler.noise.image_evidence import Sighting
from crawler.outcomes import Code, Outcome
from crawler.store.batch.images import save_verdicts
from crawler.store.crawl_tables import address, address_pattern, crawl, edit, host, site, tables
from crawler.store.deletion import delete_crawl
from crawler.store.labels import Label, put_label
from crawler.store.page_tables import (
    LabelKind,
    erasure,
    evidence,
    focus,
    near_duplicate_band,
    page,
    page_change,
    page_version,
    robots_file,
    shared_example,
    template,
)
from crawler.topic.page_translations import address_key
from crawler.urls.canonical import Canonical
from crawler.urls.page_id import page_id

PERSON = "http://one.example/person"
OTHER = "http://one.example/other"
HOST = "two.example"
OF_HOST = f"http://{HOST}/hives"
WORDS = {"quennell": 1, "bee": 2, "wasp": 9}
"""On so many pages."""
SHARED_ROBOTS, OWN_ROBOTS = "a" * 64, "b" * 64


def sighting(url: str, target: str, shown_on: str) -> str:
    return Sighting(url=url, target=target, page=shown_on).record()


def image(url: str, target: str, shown_on: str) -> Candidate:
    return Candidate(url, kind=AddressKind.IMAGE, sight=sighting(url, target, shown_on))


def verdict_row(key: int, url: str, target: str, shown_on: str, file: str) -> dict[str, Any]:
    """The row of a verdict on an image."""
    return {
        "key": key,
        "site_id": 1,
        "kind": AddressKind.IMAGE,
        "url": url,
        "target": target,
        "page": shown_on,
        "noise": False,
        "probability": 0.1,
        "reasons": "[]",
        "decided_by": "learned",
        "audited": False,
        "bytes_are_measured": False,
        "decided_at": "",
        "sight": sighting(url, target, shown_on),
        "file": file,
    }


def crawl_some(crew: Crew) -> Worker:
    """A crawl that has stored three pages of two hosts, with all that is kept beside pages."""
    worker = crew.join(*candidates(PERSON, OTHER, OF_HOST))
    leases = {lease.candidate.url: lease for lease in worker.claim()}
    links = {
        PERSON: [
            Candidate("http://one.example/left", labels="what Quennell left"),
            image("http://one.example/quennell.png", "", PERSON),
        ],
        OTHER: [
            Candidate(PERSON),
            image("http://one.example/bee.png", PERSON, OTHER),
            Candidate(f"http://{HOST}/more"),
        ],
        OF_HOST: [Candidate(OTHER)],
    }
    texts = {PERSON: "Quennell keeps bees.", OTHER: "Wasps.", OF_HOST: "Hives."}
    rights = {"evidence": [{"says": SHARED_ROBOTS}]}
    worker.end(*(stored(leases[url], *links[url], text=texts[url], rights=rights) for url in links))
    crawl_id = worker.session.crawl_id
    known = [[0.5, {"quennell": 1.0}, "en", address_key(PERSON)], [0.5, {"wasp": 1.0}, "en", address_key(OTHER)]]
    learned: dict[str, Any] = {"known": known, "translated": [], "translations": [], "words": WORDS}
    learned["features"] = [(0, word, 0.5, 1.0) for word in (*WORDS, HOST)]
    summary = {"pages": 3, "topic": [[word, 0.5] for word in WORDS], "good": [[HOST, 0.1, "host"]], "bad": []}
    mine = {"crawl_id": crawl_id}
    with crew.engine.begin() as connection:
        names = [("parent", PERSON), ("duplicate_of", OF_HOST), ("requested_url", PERSON)]
        connection.execute(page.update().where(page.c.url == OTHER).values(dict(names)))
        lessons = [
            (LessonKind.HOME, PERSON),
            (LessonKind.SEED, texts[PERSON]),
            (LessonKind.SEED, texts[OTHER]),
            (LessonKind.EXAMPLE, f"{OF_HOST}\nHives."),
            (LessonKind.EXAMPLE_AGAIN, PERSON),
        ]
        rows = [mine | {"kind": kind, "text": text} for kind, text in lessons]
        connection.execute(insert(shared_example), rows)
        row = {"number": 1, "saved": 0.0, "summary": json.dumps(summary), "learned": json.dumps(learned)}
        connection.execute(insert(focus).values(mine | row))
        files = {SHARED_ROBOTS: f"http://{HOST}/robots.txt", OWN_ROBOTS: f"https://{HOST}/robots.txt"}
        connection.execute(
            insert(robots_file),
            [mine | {"digest": digest, "first_url": url, "read_at": "", "body": b""} for digest, url in files.items()],
        )
        hosts = [
            mine | {"key": number, "host": name, "tag": "p", "text": ""} for number, name in enumerate((HOST, "x"))
        ]
        connection.execute(insert(template), hosts)
        key = select(page.c.key).where(page.c.url == PERSON).scalar_subquery()
        earlier = {"key": key, "fetched_at": "", "title": "", "text": "Quennell kept wasps."}
        connection.execute(insert(page_version).values(mine | earlier))
        bands = select(page.c.crawl_id, page.c.id, page.c.key)
        connection.execute(insert(near_duplicate_band).from_select(["crawl_id", "band", "key"], bands))
        sites = dict(connection.execute(select(site.c.name, site.c.id)).all())
        of_sites = [mine | {"site_id": site_id} for site_id in sites.values()]
        connection.execute(insert(evidence), [row | {"counts": "[]"} for row in of_sites])
        uses = dict.fromkeys(("useful", "useless", "in_a_row", "open", "put_off"), 0)
        connection.execute(insert(address_pattern), [row | uses | {"pattern": "/*"} for row in of_sites])
        connection.execute(crawl.update().values(seeds=json.dumps([*SEEDS, PERSON, OTHER, OF_HOST])))
        subjects = [{"at": 0.0, "user_name": "", "action": "noise", "subject": url} for url in (PERSON, OTHER)]
        connection.execute(insert(edit), subjects)
        connection.execute(address.update().where(address.c.url == OTHER).values(requested=PERSON))
    verdicts = [
        verdict_row(1, "http://one.example/quennell.png", "", PERSON, "aa/quennell.png"),
        verdict_row(2, "http://one.example/bee.png", PERSON, OTHER, "aa/bee.png"),
    ]
    with crew.engine.begin() as connection:
        save_verdicts(connection, crawl_id, verdicts)
    for url in (PERSON, OTHER):
        label = Label(kind=LabelKind.IMAGE, crawl="crawl", url="http://one.example/bee.png", page=url, value="noise")
        put_label(crew.engine, label)
    worker.leave()
    return worker


def erase(engine: Engine, *targets: str) -> ErasedRows:
    with engine.begin() as connection:
        crawl_id = connection.execute(select(page.c.crawl_id).limit(1)).scalar_one()
        return erase_rows(connection, crawl_id, "crawl", erasure_targets(targets, Canonical(())))


def tables_with(engine: Engine, text: str) -> list[str]:
    """The tables in which a text is left."""
    with engine.connect() as connection:
        rows = {table.name: str(connection.execute(select(table)).all()) for table in tables.sorted_tables}
    return [name for name, text_of_rows in rows.items() if text in text_of_rows]


def test_no_row_names_an_erased_page(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    assert len(tables_with(engine, PERSON)) == 7
    assert len(tables_with(engine, "uennell")) >= 6
    done = erase(engine, PERSON)
    assert (tables_with(engine, PERSON), tables_with(engine, "uennell")) == ([], [])
    check(engine)
    assert done.stored_targets == {PERSON}
    assert done.redirected_to == [OTHER]
    assert done.image_files == {"aa/quennell.png"}
    assert (done.counts["pages"], done.counts["versions"], done.counts["labels"]) == (1, 1, 1)
    names = page.c.url, page.c.requested_url, page.c.parent, page.c.duplicate_of
    with engine.connect() as connection:
        rows = connection.execute(select(*names).order_by(page.c.url)).all()
        barred = connection.execute(select(address.c.outcome).where(address.c.url == "")).scalars().all()
        digests = connection.execute(select(erasure.c.digest)).scalars().all()
        texts = connection.execute(select(shared_example.c.text)).scalars().all()
        seeds = connection.execute(select(crawl.c.seeds)).scalar_one()
        of_sites = evidence.join(site, site.c.id == evidence.c.site_id)
        sites = connection.execute(select(site.c.name).select_from(of_sites)).scalars().all()
        of_pages = near_duplicate_band.outerjoin(page, page.c.key == near_duplicate_band.c.key)
        banded = connection.execute(select(page.c.url).select_from(of_pages)).scalars().all()
        changed = page_change.outerjoin(page, page.c.key == page_change.c.key)
        learned = json.loads(connection.execute(select(focus.c.learned)).scalar_one())
        order = select(page.c.url).select_from(changed).order_by(page_change.c.offset)
        last = connection.execute(order).scalars().all()[-1]
    assert [tuple(row) for row in rows] == [(OTHER, OTHER, None, OF_HOST), (OF_HOST, OF_HOST, None, None)]
    assert learned["words"] == {"bee": 2, "wasp": 9}
    assert [one[1] for one in learned["features"]] == ["bee", "wasp", HOST]
    assert [list(one[1]) for one in learned["known"]] == [["wasp"]]
    assert barred == [Code.ERASED] * 3
    assert digests == [page_id(PERSON)]
    assert json.loads(seeds) == [*SEEDS, OTHER, OF_HOST]
    assert sites == [HOST]
    assert set(banded) == {OTHER, OF_HOST}
    assert sorted(texts) == ["Wasps.", f"{OF_HOST}\nHives."]
    assert last is None


def test_an_erased_page_is_not_added_again(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    erase(engine, PERSON)
    seen = list(crew.addresses())
    for fresh in (False, True):
        worker = crew.join(*candidates(PERSON), fresh=fresh)
        worker.seed(*candidates("http://one.example/start"))
        leases = {lease.candidate.url: lease for lease in worker.claim()}
        links = Candidate(PERSON), Candidate(PERSON, kind=AddressKind.IMAGE)
        worker.end(stored(leases["http://one.example/start"], *links))
        assert PERSON not in crew.addresses()
        assert worker.claim() == []
        worker.leave()
    assert PERSON not in seen
    assert tables_with(engine, PERSON) == []


def test_no_row_names_an_erased_host(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    assert len(tables_with(engine, HOST)) >= 6
    done = erase(engine, HOST)
    assert tables_with(engine, HOST) == []
    check(engine)
    assert (done.counts["pages"], done.counts["hosts"], done.counts["addresses"]) == (1, 1, 2)
    with engine.connect() as connection:
        assert connection.execute(select(site.c.name)).scalars().all() == ["one.example"]
        assert len(connection.execute(select(address_pattern)).all()) == 1
        assert connection.execute(select(template.c.host)).scalars().all() == ["x"]
        assert connection.execute(select(robots_file.c.digest)).scalars().all() == [SHARED_ROBOTS]


def test_no_address_of_an_erased_host_is_added(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    erase(engine, HOST)
    for fresh in (False, True):
        worker = crew.join(*candidates(OF_HOST, "http://one.example/a", "http://one.example/b"), fresh=fresh)
        leases = {lease.candidate.url: lease for lease in worker.claim() if lease.candidate.url[-2:] in ("/a", "/b")}
        assert len(leases) == 2
        first, second = leases.values()
        assert worker.move(first, OF_HOST) is None
        links = Candidate(OF_HOST), image(f"http://{HOST}/b.png", "", OTHER), Candidate("http://www.two.example/")
        reply = worker.end(stored(second, *links))
        # A seed, and two links of a page.
        assert reply.left_out[Outcome(Code.ERASED)] == 2
        with engine.connect() as connection:
            names = set(connection.execute(select(host.c.name)).scalars())
        assert names == {"one.example", "www.two.example"}
        assert tables_with(engine, f"/{HOST}") == []
        worker.leave()


def test_readers_are_told_of_a_page_that_was_deleted_before(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    erase(engine, "http://one.example/deleted")
    changed = page_change.outerjoin(page, page.c.key == page_change.c.key)
    changed = changed.join(erasure, erasure.c.key == page_change.c.key)
    with engine.connect() as connection:
        rows = connection.execute(select(erasure.c.digest, page.c.url).select_from(changed)).all()
    assert [tuple(row) for row in rows] == [(page_id("http://one.example/deleted"), None)]


def test_two_erasures_are_as_one(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    erase(engine, PERSON)
    with engine.connect() as connection:
        before = [
            connection.execute(select(func.count()).select_from(table)).scalar() for table in tables.sorted_tables
        ]
    again = erase(engine, f"{PERSON}#top")
    assert (again.stored_targets, again.counts.total()) == (set(), 0)
    with engine.connect() as connection:
        after = [connection.execute(select(func.count()).select_from(table)).scalar() for table in tables.sorted_tables]
    assert after == before


def test_a_deleted_crawl_leaves_no_barred_addresses(crew: Crew, engine: Engine) -> None:
    crawl_some(crew)
    erase(engine, PERSON)
    delete_crawl(engine.url, "crawl")
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(address)).scalar_one() == 0
