"""Images are recorded, wait for their site to show enough, and what was counted and said of them is kept."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, select, update
from store_workers import EVERYTHING, LOST, Crew, Worker, also, candidates, failed, stored, urls

from crawler.frontier.batch import Batch, SiteEvidence
from crawler.frontier.page_result import Candidate
from crawler.noise.image_evidence import Evidence
from crawler.outcomes import Code, Outcome
from crawler.store.batch import images
from crawler.store.batch.images import EvidenceReader, ready_sites
from crawler.store.crawl_tables import AddressState, address, host, site, worker
from crawler.store.page_tables import evidence, verdict

A, B, CDN = "http://a.example/", "http://b.example/", "http://cdn.example/"
NOISE = Outcome(Code.NOISE, "keyword")
VERDICT: dict[str, Any] = {
    "key": 7,
    "site_id": 1,
    "kind": "image",
    "url": CDN + "1.png",
    "target": "",
    "page": A,
    "noise": True,
    "probability": 0.9,
    "keyword": 1.5,
    "redundancy": None,
    "entropy": 0.25,
    "reasons": ["its words"],
    "decided_by": "keyword",
    "audited": False,
    "mistaken": None,
    "bytes": 10,
    "bytes_are_measured": False,
    "decided_at": "2026-11-21T00:00:00+00:00",
    "sight": "",
}


def image(number: int = 1, kind: str = "image", url: str = CDN) -> Candidate:
    """An image, or a page behind one, that is to be judged."""
    return Candidate(f"{url}{number}", -10 if kind == "image" else -5, kind=kind, sight=f"sight {number}")


def counting(crew: Crew, *seeds: Candidate, enough: int = 2, **plan: Any) -> Worker:
    """A worker that counts images; what was counted of pages is the list of what they show."""
    one = crew.join(*seeds, **plan)
    one.session.committer.enough_pages = enough
    one.session.committer.releases.searched_at = float(
        "inf"
    )  # it looks for dry sites when it is idle, and not by the clock
    return one


def states(crew: Crew) -> dict[str, int]:
    return {url: state for url, (state, _) in crew.addresses().items()}


# Recording and releasing.


def test_an_image_is_recorded_until_its_site_has_enough_pages(crew: Crew) -> None:
    one = counting(crew, *candidates(A, A + "2", A + "3"))
    first, second, third = one.claim()
    answer = one.end(stored(first, image(1)), demand=EVERYTHING)
    assert (answer.leases, answer.waiting, states(crew)["image " + CDN + "1"]) == ([], 0, AddressState.RECORDED)
    (lease,) = one.end(stored(second, image(2)), demand=replace(EVERYTHING, addresses=1)).leases
    assert (lease.candidate, lease.shown_on) == (replace(image(1), parent=A), second.site_id)
    assert states(crew)["image " + CDN + "2"] == AddressState.WAITING
    one.end(stored(third, image(3)))
    assert states(crew)["image " + CDN + "3"] == AddressState.WAITING
    assert urls(one.claim()) == [CDN + "2", CDN + "3"]


def test_pages_that_brought_nothing_do_not_count(crew: Crew) -> None:
    one = counting(crew, *candidates(A, A + "2", A + "3"))
    first, second, _ = one.claim()
    one.end(stored(first, image(1)), failed(second, Outcome(Code.NOINDEX), links=(image(2),)))
    assert states(crew)["image " + CDN + "1"] == states(crew)["image " + CDN + "2"] == AddressState.RECORDED


@pytest.mark.parametrize(("left", "released"), [("nothing", True), ("waiting", False), ("held", False)])
def test_images_of_a_site_that_has_run_dry_are_released(crew: Crew, left: str, released: bool) -> None:
    """Another site still has pages that wait, and so has the host of the images."""
    one = counting(crew, *candidates(A, A + "2", B, CDN))
    first, second, *others = one.claim()
    one.commit(returned=others)
    if left == "waiting":
        one.commit(returned=[second])
    elif left == "nothing":
        one.end(failed(second))
    one.end(stored(first, image(1)))
    one.commit(idle=True)
    assert states(crew)["image " + CDN + "1"] == (AddressState.WAITING if released else AddressState.RECORDED)


def test_dry_sites_are_looked_for_some_at_a_time(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "SITES_AT_ONCE", 1)
    hosts = [f"http://{letter}.example/" for letter in "abcd"]
    one = counting(crew, *candidates(*hosts))
    one.end(*(stored(lease, image(n)) for n, lease in enumerate(one.claim())))
    first = crew.value(select(func.min(site.c.id)))
    found, after = [], first - 1
    with crew.engine.connect() as connection:
        for _ in range(5):  # the last is that of the images
            some, after = ready_sites(connection, one.session.crawl_id, after, 9)
            found.append(some)
    assert (found, after) == ([*([first + n] for n in range(4)), []], 0)


@pytest.mark.parametrize("limit", [1, None])
def test_no_crawl_is_over_while_images_are_recorded(crew: Crew, limit: int | None) -> None:
    """With max_pages its pages wait on, and its images are asked for."""
    one = counting(crew, *candidates(A, A + "2"), max_pages=limit, enough=9)
    (first, *rest) = one.claim()
    answer = one.end(stored(first, image(1), image(2, "link")), *map(failed, rest))
    assert not answer.over
    assert not one.commit(idle=True).over
    assert states(crew)["image " + CDN + "1"] == AddressState.WAITING
    assert one.session.begin([A])
    expected = [CDN + "1"] if limit else [CDN + "2", CDN + "1"]
    leases = one.claim()
    assert urls(leases) == expected
    one.end(*map(stored, leases))
    assert one.commit(idle=True).over


@pytest.mark.parametrize(("limit", "released"), [(1, True), (2, False)])
def test_images_are_released_when_the_crawl_has_its_pages(crew: Crew, limit: int, released: bool) -> None:
    """Although this worker is not idle, and the site still has pages that wait."""
    one = counting(crew, *candidates(A, A + "2"), max_pages=limit, enough=9)
    one.end(stored(one.claim(addresses=1)[0], image(1)))
    one.session.committer.releases.searched_at = 0.0
    one.commit()
    assert states(crew)["image " + CDN + "1"] == (AddressState.WAITING if released else AddressState.RECORDED)


def test_a_crawl_goes_on_for_what_was_recorded_when_it_died(crew: Crew) -> None:
    one = counting(crew, *candidates(A), enough=9)
    (first,) = one.claim()
    one.end(stored(first, image(1)))
    one.die()
    again = counting(crew, enough=9)
    assert again.session.begin([A])
    assert not again.commit(idle=True).over
    assert urls(again.claim()) == [CDN + "1"]


def test_another_worker_s_pages_count(crew: Crew) -> None:
    one, two = counting(crew, *candidates(A, B)), counting(crew, folder="two")
    (first,) = one.claim(addresses=1)
    one.end(stored(first, image(1), *candidates(A + "2")))
    one.rest(first)
    held = {lease.candidate.url: lease for lease in two.claim()}
    two.end(stored(held[A + "2"], image(2)))
    assert states(crew)["image " + CDN + "1"] == states(crew)["image " + CDN + "2"] == AddressState.WAITING


def test_with_nothing_to_wait_for_images_wait_their_turn_at_once(crew: Crew) -> None:
    one = counting(crew, *candidates(A), enough=0)
    (first,) = one.claim()
    assert urls(one.end(stored(first, image(1)), demand=EVERYTHING).leases) == [CDN + "1"]


# Pages behind images.


@pytest.mark.parametrize("when", ["recorded", "waiting", "held", "noise", "the same page"])
def test_a_link_with_words_overrules_an_image(crew: Crew, when: str) -> None:
    one = counting(crew, *candidates(A, A + "2"), enough=9 if when == "recorded" else 1)
    first, second = one.claim()
    behind, words = image(1, "link"), Candidate(CDN + "1", 50)
    if when == "the same page":
        one.end(stored(first, behind, words))
    else:
        one.end(stored(first, behind))
    said = VERDICT | {"kind": "link", "key": one.session.committer.keys(CDN + "1")}
    if when in ("held", "noise"):
        (held,) = one.claim()
    if when == "noise":
        one.end(failed(held, NOISE, verdict=said))
        assert crew.addresses()[CDN + "1"] == (AddressState.DONE, NOISE)
        assert crew.value(select(func.count()).select_from(verdict)) == 1
    if when != "the same page":
        one.end(stored(second, words))
    if when == "held":
        assert crew.addresses()[CDN + "1"] == (AddressState.HELD, None)
        one.end(failed(held, NOISE, verdict=said))
    (lease,) = one.claim()
    assert (lease.candidate.url, lease.candidate.priority, lease.candidate.sight) == (CDN + "1", 50, None)
    assert crew.value(select(func.count()).select_from(verdict)) == 0


@pytest.mark.parametrize("outcome", [None, LOST, Outcome(Code.NOINDEX)])
def test_what_came_of_a_page_otherwise_is_not_overruled(crew: Crew, outcome: Outcome | None) -> None:
    one = counting(crew, *candidates(A, A + "2"), enough=1)
    first, second = one.claim()
    one.end(stored(first, image(1, "link")))
    (held,) = one.claim()
    one.end(stored(held) if not outcome else failed(held, outcome))
    one.end(stored(second, Candidate(CDN + "1", 50)))
    assert crew.addresses()[CDN + "1"] == (AddressState.DONE, outcome or None)


def test_a_page_that_waits_for_its_words_is_not_judged_for_an_image(crew: Crew) -> None:
    one = counting(crew, *candidates(A, CDN + "1"))
    (first, _) = one.claim()
    one.commit(returned=[_])
    one.end(stored(first, image(1, "link")))
    assert [lease.candidate.sight for lease in one.claim()] == [None]


def test_a_redirect_overrules_an_image(crew: Crew) -> None:
    one = counting(crew, *candidates(A, B), enough=9)
    first, second = one.claim()
    one.end(stored(first, image(1, "link")))
    assert one.move(second, CDN + "1") is None
    one.end(failed(second, Outcome(Code.REDIRECT_TO_KNOWN)))
    assert [(lease.candidate.url, lease.candidate.sight) for lease in one.claim()] == [(CDN + "1", None)]


@pytest.mark.parametrize("kind", ["image", "link"])
@pytest.mark.parametrize("fate", ["held", "died", "waits"])
def test_where_an_image_moved_is_judged_as_it_was(crew: Crew, fate: str, kind: str) -> None:
    one = counting(crew, *candidates(A), enough=1)
    one.end(stored(one.claim()[0], image(1, kind)))
    (held,) = one.claim()
    if fate == "waits":
        one.commit(closed={"moved.example": Code.HOST_CLOSED})
    moved = one.move(held, "http://moved.example/")
    assert (moved is None) is (fate == "waits")
    if moved is not None:
        assert (moved.shown_on, moved.candidate.sight) == (held.shown_on, "sight 1")
        assert one.hand == {moved.id: moved}
    if fate == "died":
        one.die()
        one = counting(crew, enough=1)
        assert one.claim() == [replace(moved, candidate=replace(moved.candidate, parent=A))]
    query = select(address.c.sight, address.c.shown_on).where(address.c.url == "http://moved.example/")
    with crew.engine.connect() as connection:
        assert tuple(connection.execute(query).one()) == ("sight 1", held.shown_on)


def test_noise_costs_its_site_no_request(crew: Crew) -> None:
    one = counting(crew, *candidates(A), enough=1)
    one.end(stored(one.claim()[0], image(1, "link"), image(2, "link")))
    noise, page = one.claim()
    one.end(failed(noise, NOISE), failed(page))
    query = select(site.c.requests, site.c.held).where(site.c.id == noise.site_id)
    with crew.engine.connect() as connection:
        assert tuple(connection.execute(query).one()) == (1, 0)


# A run that wants no images.


def bare(number: int) -> Candidate:
    """An image that nobody judges, as a crawl without a judge, or of an older version, has them."""
    return replace(image(number), sight=None)


@pytest.mark.parametrize(
    ("shown", "enough", "max_pages"), [(image, 1, 2), (image, 9, None), (bare, 1, None), (bare, 9, 2)]
)
def test_images_are_left_to_a_run_that_wants_them(
    crew: Crew, shown: Callable[[int], Candidate], enough: int, max_pages: int | None
) -> None:
    one = counting(crew, *candidates(A), enough=enough)
    one.end(stored(one.claim()[0], shown(1), shown(2), *candidates(A + "2")))
    one.die()
    without = counting(crew, *candidates(A), enough=enough, images=False, max_pages=max_pages)
    assert without.session.begin([A])
    assert states(crew)["image " + CDN + "1"] == AddressState.RECORDED
    (page,) = without.claim()
    without.end(stored(page))
    assert (without.claim(), without.commit(idle=True).over) == ([], True)
    assert not without.session.begin([A])
    without.leave()
    again = counting(crew, enough=enough, max_pages=max_pages)
    assert again.session.begin([A])
    again.commit(idle=True)
    images_come = again.claim()
    assert sorted(urls(images_come)) == [CDN + "1", CDN + "2"]
    again.end(*map(stored, images_come))
    assert again.commit(idle=True).over
    assert not again.session.begin([A])


@pytest.mark.parametrize("max_pages", [None, 1])
def test_what_a_dead_worker_held_of_images_is_left_too(crew: Crew, max_pages: int | None) -> None:
    one = counting(crew, *candidates(A), enough=1)
    one.end(stored(one.claim()[0], image(1, url=A), *candidates(A + "page", priority=-20)))
    assert urls(one.claim(addresses=1, each_host=1)) == [A + "1"]
    one.rest(*one.hand.values())
    without = counting(crew, *candidates(A), enough=1, folder="two", images=False, max_pages=max_pages)
    crew.change(update(worker).where(worker.c.id == one.session.worker_id).values(heartbeat=0.0))
    assert without.session.committer.expire_silent_workers() == 1
    assert states(crew)["image " + A + "1"] == AddressState.WAITING
    answer = without.commit(demand=EVERYTHING, idle=True)
    assert (urls(answer.leases), answer.hosts_with_more) == ([] if max_pages else [A + "page"], set())
    assert without.end(*map(stored, answer.leases), demand=EVERYTHING, idle=True).over
    assert not without.session.begin([A])
    without.leave()
    one.die()
    again = counting(crew, enough=1, max_pages=max_pages)
    assert again.session.begin([A])
    assert urls(again.claim()) == [A + "1"]


def test_pages_behind_images_come_without_these(crew: Crew) -> None:
    one = counting(crew, *candidates(A), enough=9, images=False)
    one.end(stored(one.claim()[0], image(1), image(2, "link")))
    assert not one.commit(idle=True).over
    assert states(crew) == {
        A: AddressState.DONE,
        "image " + CDN + "1": AddressState.RECORDED,
        CDN + "2": AddressState.WAITING,
    }


def test_very_many_images_are_left(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.store.database.PARAMETERS_AT_ONCE", 2)
    one = counting(crew, *candidates(A), enough=0)
    shown = [image(number, url=f"http://{number}.example/") for number in range(9)]
    one.end(stored(one.claim()[0], *shown))
    one.die()
    without = counting(crew, *candidates(A), enough=0, images=False)
    assert without.commit(idle=True).over
    assert crew.value(select(func.count()).where(host.c.best.is_not(None))) == 0


# What was counted.


def told(found: list[SiteEvidence]) -> list[tuple[bool, list[Any]]]:
    return [(one.whole, [Evidence.of(counts).pages for counts in one.counts]) for one in found]


def test_evidence_comes_whole_at_first_then_what_is_new(crew: Crew) -> None:
    one = counting(crew, *candidates(A, A + "2", A + "3", B), enough=1)
    first, second, third, other = one.claim()
    answer = one.end(
        stored(first, image(1)),
        stored(second, image(2)),
        stored(other),
        evidence={first.site_id: Evidence(pages=1), other.site_id: Evidence(pages=2)},
        demand=replace(EVERYTHING, addresses=1),
    )
    assert told(answer.evidence) == [(True, [1])]
    answer = one.end(
        stored(third), evidence={third.site_id: Evidence(pages=3)}, demand=replace(EVERYTHING, addresses=1)
    )
    assert told(answer.evidence) == [(False, [3])]
    one.end(stored(one.hand[min(one.hand)]), demand=None)
    one.die()
    again = counting(crew, enough=1)
    assert told(again.commit(demand=EVERYTHING).evidence) == [(True, [1, 3])]


def test_evidence_of_a_page_that_was_never_committed_is_not_there(crew: Crew) -> None:
    one = counting(crew, *candidates(A, A + "2"), enough=1)
    one.claim()
    one.die()
    two = counting(crew, enough=1)
    first, second = two.claim()
    two.end(stored(first, image(1)), evidence={first.site_id: Evidence(pages=1)})
    two.die()
    three = counting(crew, enough=1)
    (page, _) = three.claim()
    assert page == replace(second, id=page.id)
    three.end(stored(page), evidence={page.site_id: Evidence(pages=2)})
    with crew.engine.connect() as connection:
        rows = connection.execute(select(evidence.c.counts).order_by(evidence.c.id)).scalars()
        assert [Evidence.of(row).pages for row in rows] == [1, 2]


def test_evidence_of_many_sites_is_forgotten_and_read_again(crew: Crew) -> None:
    crew.join()
    with crew.engine.begin() as connection:
        reader = EvidenceReader(most=2)
        mine = crew.workers[0].session.crawl_id
        for number in (1, 2, 3):
            connection.execute(insert(evidence).values(crawl_id=mine, site_id=number, counts=str(number)))
        for sites, news, forgotten in [
            ({1}, [(1, True)], []),
            ({1, 2}, [(2, True)], []),
            ({3}, [(3, True)], [1]),
            ({2, 3}, [], []),
            ({1}, [(1, True)], [2]),
            ({2, 3}, [(2, True)], [1]),
            ({1, 2, 3}, [(1, True)], []),
        ]:
            assert [(one.site_id, one.whole) for one in reader.read(connection, sites)] == news
            assert reader.committed(sites) == forgotten
        connection.execute(delete(evidence))


def test_nothing_is_skipped_of_a_site_that_was_not_asked_for_in_between(crew: Crew) -> None:
    crew.join()
    mine, reader = crew.workers[0].session.crawl_id, EvidenceReader()
    with crew.engine.begin() as connection:

        def add(site_id: int, counts: str) -> None:
            connection.execute(insert(evidence).values(crawl_id=mine, site_id=site_id, counts=counts))

        def read(*sites: int) -> dict[int, list[str]]:
            found = {one.site_id: one.counts for one in reader.read(connection, sites)}
            reader.committed(sites)
            return found

        add(1, "a")
        add(2, "b")
        assert read(1, 2) == {1: ["a"], 2: ["b"]}
        add(1, "c")
        add(2, "d")
        assert read(2) == {2: ["d"]}
        add(2, "e")
        assert read(1, 2) == {1: ["c"], 2: ["e"]}
        assert read(1, 2) == {}
        connection.execute(delete(evidence))


# What was said.


def judge(crew: Crew, **fields: Any) -> dict[str, Any]:
    """A verdict as it is kept with the end of an image."""
    one = counting(crew, *candidates(A), enough=1)
    one.end(stored(one.claim()[0], image(1)))
    (held,) = one.claim()
    path = fields.pop("path", "")
    said = VERDICT | {"site_id": held.shown_on} | fields
    brought = also(stored(held, size=123, path=path), verdict=said)
    one.end(failed(held, NOISE, verdict=said) if said["noise"] else brought)
    with crew.engine.connect() as connection:
        return dict(connection.execute(select(verdict)).one()._mapping)


def test_a_verdict_is_kept(crew: Crew) -> None:
    kept = judge(crew)
    expected = VERDICT | {"site_id": kept["site_id"], "reasons": '["its words"]'}
    assert {name: kept[name] for name in expected} == expected


def test_the_size_of_what_was_downloaded_is_measured(crew: Crew) -> None:
    kept = judge(crew, noise=False, bytes=None)
    assert (kept["bytes"], kept["bytes_are_measured"]) == (123, True)


@pytest.mark.parametrize(
    ("path", "file"), [("out/images/ab/abcd.jpg", "ab/abcd.jpg"), ("C:/x y/images/ab/ab.png", "ab/ab.png"), ("", None)]
)
def test_the_file_of_what_was_downloaded_is_known(crew: Crew, path: str, file: str | None) -> None:
    assert judge(crew, noise=False, path=path)["file"] == file


def test_how_a_page_shows_it_is_kept(crew: Crew) -> None:
    assert judge(crew, sight='["\u00e9\x00"]')["sight"] == '["\u00e9"]'


def test_an_image_that_comes_later_is_told_of(crew: Crew) -> None:
    """By a run that judges nothing, of what an earlier one refused."""
    one = counting(crew, *candidates(A), enough=1)
    one.end(stored(one.claim()[0], image(1)))
    (held,) = one.claim()
    known = {"key": one.session.committer.keys(held.candidate.url, "image"), "site_id": held.shown_on}
    one.end(failed(held, NOISE, verdict=VERDICT | known))
    crew.change(
        update(address).where(address.c.id == held.id).values(state=AddressState.HELD, worker=one.session.worker_id)
    )
    one.session.committer.commit(Batch(ended=[stored(held, size=9, path="images/ab/ab.png")]))
    assert crew.value(select(verdict.c.file)) == "ab/ab.png"
    assert crew.value(select(verdict.c.bytes)) == 9


@pytest.mark.parametrize("way", ["fresh", "other crawl"])
def test_a_fresh_crawl_forgets_what_its_images_told(crew: Crew, way: str) -> None:
    judge(crew)
    one = crew.workers[-1]
    with crew.engine.begin() as connection:
        connection.execute(insert(evidence).values(crawl_id=one.session.crawl_id, site_id=1, counts=""))
    one.leave()
    crew.join(**({"fresh": True} if way == "fresh" else {"name": "other"}))
    left = 0 if way == "fresh" else 1
    for table in (verdict, evidence):
        assert crew.value(select(func.count()).select_from(table)) == left
