"""`scrapy state` says what is in the database without touching it, and deletes what it is told to, and nothing else."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import postgres
import pytest
import sites
from command_line import run_command
from sites import Answer, Crawl, Site, crawl, page, serving
from sqlalchemy import create_engine, select, text
from sqlalchemy.engine import URL, make_url

from crawler.frontier.batch import Batch, ClaimRequest, WorkerSample
from crawler.frontier.page_result import AddressKind, Candidate, Completion, PageResult, Template
from crawler.frontier.put_off_rule import PatternUse, Usefulness
from crawler.items import PageItem
from crawler.noise.image_evidence import Evidence
from crawler.outcomes import Code, Outcome
from crawler.reports import crawls
from crawler.rights.robots_file import read_robots
from crawler.store import database, deletion, read_only
from crawler.store.crawl_tables import address, host, tables, version
from crawler.store.database import open_database
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.page_tables import change_epoch
from crawler.store.schema_version import newest_version
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.topic.priorities import BEHIND_IMAGE, UNLIKELY
from crawler.urls.canonical import Canonical

EVERYTHING = ClaimRequest(hosts=100, addresses=1_000, each_host=100)
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
ESCAPES = "\x1b[2J\x9b31m\n\t\u202e"
SPELLED = r"\x1b[2J\x9b31m\n\t\u202e"
OLD, NEW = "2024-05-06T07:08:09+00:00", "2999-01-01T00:00:00+00:00"
FINISHED = r"finished on \d{4}-\d\d-\d\d \d\d:\d\d UTC"


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int
    out: str
    err: str

    def fact(self, name: str) -> str:
        """What stands behind a word at the start of a line."""
        return re.search(rf"^ *{name}  +(.*)$", self.out, re.MULTILINE)[1]

    def numbers(self, name: str) -> list[int]:
        """The numbers of a fact."""
        return [int(number) for number in re.findall(r"\d+", self.fact(name))]


class Place:
    """A folder with a database, and the command given there."""

    def __init__(self, folder: Path, url: URL, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.url, self.capture = folder, url, capture
        self.settings = {"STATE_URL": "" if url.drivername == "sqlite" else url.render_as_string(hide_password=False)}

    def state(self, *words: str, **settings: Any) -> Said:
        given = {"OUTPUT_DIR": str(self.folder / "output")} | self.settings | settings
        line = ["state", *words]
        line += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        return Said(*run_command(self.capture, *line))

    def session(self, name: str, **plan: Any) -> WorkerSession:
        common = {"seeds": (f"http://{name}.example/",), "site_limit": 10_000, "canonical": Canonical(())}
        return WorkerSession(open_database(self.url), CrawlPlan(name, folder=self.folder / "output", **common | plan))

    def change(self, statement: str, **values: Any) -> None:
        engine = create_engine(self.url)
        with engine.begin() as connection:
            connection.execute(text(statement), values)
        engine.dispose()

    def rows(self) -> dict[str, list[Any]]:
        """All that is in the database, but for the epochs that each start of a worker begins, which are no crawl's."""
        engine = create_engine(self.url)
        with engine.connect() as connection:
            found = {
                table.name: list(connection.execute(select(table).order_by(*table.primary_key)))
                for table in tables.sorted_tables
                if table is not change_epoch
            }
        engine.dispose()
        return found


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    """A place where no crawl was ever run."""
    return Place(tmp_path, URL.create("sqlite", database=str(tmp_path / "output" / "crawl.db")), capsys)


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    """The same with each kind of database, for what each does in its own way."""
    if request.param == "sqlite":
        return place
    return Place(tmp_path, make_url(request.getfixturevalue("emptied_database")), capsys)


def work(session: WorkerSession, links: Mapping[str, Outcome | None] = {}, fetched_at: str = OLD) -> None:
    """Store a crawl's seed, and let links wait or be ended in these ways."""
    committer, (seed,) = session.committer, session.plan.seeds
    session.seed([Candidate(seed, kind=AddressKind.SEED)])
    (lease,) = committer.commit(Batch(demand=EVERYTHING)).leases
    item = asdict(PageItem(seed, seed, fetched_at, 200, 0, None, text="Bees. " * 1_000))
    found = tuple(Candidate(url, 5, 1, seed) for url in links)
    committer.commit(
        Batch([Completion(lease, PageResult(record=item, links=found))], rests_of_dropped_hosts={lease.host_id: 0.0})
    )
    if links:
        held = [(one, links[one.candidate.url]) for one in committer.commit(Batch(demand=EVERYTHING)).leases]
        ended = [Completion(one, PageResult(outcome)) for one, outcome in held if outcome]
        back = [one for one, outcome in held if not outcome]
        committer.commit(
            Batch(ended, returned=back, rests_of_dropped_hosts=dict.fromkeys({one.host_id for one, _ in held}, 0.0))
        )


WAYS = {
    "http://a.example/": Outcome(Code.HTTP_STATUS, "404"),
    "http://b.example/": Outcome(Code.HTTP_STATUS, "404"),
    "http://c.example/": Outcome(Code.NOT_HTML, "image/png"),
    "http://d.example/": Outcome(Code.NOINDEX),
    "http://h.example/": Outcome(Code.NOT_HTML, "image/png"),
    "http://e.example/": Outcome(Code.REDIRECTED),
    "http://f.example/": None,
    "http://g.example/": None,
}


def test_a_stopped_crawl(place: Place) -> None:
    session = place.session("bees")
    work(session, WAYS)
    session.leave()
    said = place.state("bees")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith("bees: stopped; ")
    assert said.fact("seeds") == "http://bees.example/"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC, \d s ago", said.fact("started"))
    assert said.numbers("pages") == [1]
    assert said.numbers("addresses") == [2, 0, 7]  # queued, leased and done
    assert said.numbers("done") == [1, 1, 3, 2]  # pages, redirects, left out and failed
    assert re.fullmatch(r".*image/png \(2\), noindex \(1\)", said.fact("left out"))
    assert re.fullmatch(r"404 .*\(2\)", said.fact("failed"))
    assert said.fact("sites") == "9"
    assert re.fullmatch(r".*/output/bees\.jsonl \(6\.\d kB\)", said.fact("items"))
    assert re.fullmatch(r".*\([\d.]+ [kM]B\)", said.fact("database"))
    assert re.search(r"^bees\.example +1 +0 +0%$", said.out, re.MULTILINE)
    assert re.search(r"^f\.example +0 +1 +0%$", said.out, re.MULTILINE)
    assert not re.search(r" $", said.out, re.MULTILINE)


def test_what_is_left_and_held_and_of_earlier_runs(place: Place) -> None:
    session = place.session("bees", max_pages=1)
    work(session, {"http://a.example/": None, "http://b.example/": None})
    session.committer.commit(Batch(idle=True))
    session.leave()
    said = place.state("bees")
    assert re.match(rf"bees: {FINISHED}, max_pages .*\n", said.out)
    assert said.numbers("addresses") == [2, 0, 1]
    again = place.session("bees", max_pages=9)
    again.seed([])
    again.committer.commit(Batch(demand=EVERYTHING))
    said = place.state("bees")
    assert said.out.startswith("bees: running, 1 worker\n")
    assert said.numbers("addresses") == [0, 2, 1]
    assert re.search(r"^ +1  .*/bees\.jsonl +2  0 s ago$", said.out, re.MULTILINE)
    again.leave()
    place.change("UPDATE crawl SET pages = 3")
    assert place.state("bees").numbers("pages") == [3, 1]
    place.change("UPDATE crawl SET pages = 0")
    assert place.state("bees").numbers("pages") == [0, 1]


def test_a_crawl_of_which_only_unlikely_links_wait_is_finished(place: Place) -> None:
    session = place.session("bees", limits_tries=True)
    work(session)
    session.seed(Candidate(f"http://a.example/{number}", UNLIKELY + 60) for number in range(60))
    leases = session.committer.commit(Batch(demand=EVERYTHING)).leases
    missing = PageResult(Outcome(Code.HTTP_STATUS, "404"))
    session.committer.commit(Batch([Completion(lease, missing) for lease in leases], idle=True, demand=EVERYTHING))
    session.leave()
    state = place.state("bees")
    waiting = 60 - len(leases)
    assert re.match(rf"bees: {FINISHED}\n", state.out)
    assert state.numbers("addresses") == [0, 0, 1 + len(leases)]
    assert waiting > 0
    assert state.numbers("unlikely")[0] == waiting


@pytest.mark.parametrize(
    ("priorities", "is_full", "behind"),
    [
        ([BEHIND_IMAGE, BEHIND_IMAGE], False, 2),
        ([BEHIND_IMAGE], False, 1),
        ([BEHIND_IMAGE, BEHIND_IMAGE + 1], True, 1),
        ([BEHIND_IMAGE, UNLIKELY + 60], False, 1),
    ],
)
def test_a_full_crawl_of_which_only_links_behind_images_wait_is_finished(
    place: Place, priorities: list[int], is_full: bool, behind: int
) -> None:
    session = place.session("bees", max_pages=1, limits_tries=True)
    work(session)
    session.seed(Candidate(f"http://a.example/{n}", priority) for n, priority in enumerate(priorities))
    session.committer.commit(Batch(idle=True))
    session.leave()
    said = place.state("bees")
    first = said.out.splitlines()[0]
    assert re.match(f"bees: {FINISHED}", first)
    assert ("max_pages" in first) == is_full
    assert said.numbers("behind images") == [behind]
    again = place.session("bees", max_pages=2)
    again.seed([])
    assert "behind images" not in place.state("bees").out  # it goes on: they are judged in their turn
    again.leave()


def test_many_of_everything(place: Place) -> None:
    session = place.session("bees")
    work(session, {f"http://site{n}.example/": Outcome(Code.ERROR, f"reason {n}") for n in range(12)})
    session.leave()
    place.change("UPDATE crawl SET seeds = :seeds", seeds=json.dumps([f"http://{n}.example/" for n in range(12)]))
    short, whole = place.state(), place.state("bees")
    assert re.search(r"2\.example/ \D+ 9 ", short.fact("seeds"))
    assert re.search(r"9\.example/ \D+ 2 ", whole.fact("seeds"))
    assert re.search(r"10 \(1\), 9 .*\(9\)$", short.fact("failed"))
    assert re.search(r"7 \(1\), 2 .*\(2\)$", whole.fact("failed"))
    assert re.search(r"^site +pages .*\nbees\.example +1 ", whole.out, re.MULTILINE)
    assert whole.out.count(".example  ") == 10
    assert ".example  " not in short.out


SITE = {"pages": 0, "requests": 0}


def test_a_site(place: Place) -> None:
    session = place.session("bees")
    work(session, {"http://site.example/": None})
    session.leave()
    mine = "(SELECT id FROM site WHERE name = 'site.example')"
    (best,) = [row.best for row in place.rows()["host"] if row.name == "site.example"]
    for numbers, change, expected in (
        ({"pages": 49}, "", r"49 +1 +49%"),
        ({"pages": 99, "requests": 999}, "", r"99 +1 +100%"),
        ({"pages": 100}, "", r"100 +1 +100%  page budget .*"),
        ({"pages": 5, "requests": 700}, "", r"5 +1 +70%"),
        ({"pages": 5, "requests": 1_000}, "", r"5 +1 +100%  page budget .*"),
        ({}, "closed = 'host_closed'", r"0 +1 +0%  closed: .*429.*"),
        ({}, "closed = 'host_walled/Anubis'", r"0 +1 +0%  closed: .* Anubis"),
        ({}, "next_at = {now} + 130", r"0 +1 +0%  paused for 2 min"),
        ({}, "next_at = {now} + 0.5", r"0 +1 +0%"),
        ({}, "next_at = {now} + 130, best = NULL", r"0 +0 +0%"),
    ):
        values = ", ".join(f"{name} = {value}" for name, value in (SITE | numbers).items())
        place.change(f"UPDATE site SET {values} WHERE id = {mine}")
        place.change(f"UPDATE host SET closed = NULL, next_at = 0, best = {best} WHERE site_id = {mine}")
        if change:
            place.change(f"UPDATE host SET {change.format(now=time.time())} WHERE site_id = {mine}")
        said = place.state("bees", SITE_PAGE_LIMIT=100)
        assert re.search(rf"^site\.example +{expected}$", said.out, re.MULTILINE), expected


def test_a_site_of_which_some_hosts_are_closed(place: Place) -> None:
    session = place.session("bees")
    work(session, {"http://a.site.org/": None, "http://b.site.org/": None})
    session.leave()
    place.change("UPDATE host SET closed = 'host_closed' WHERE name = 'a.site.org'")
    assert re.search(r"^site\.org +0 +2 +0%  1 of 2 .*429", place.state("bees").out, re.MULTILINE)


@pytest.mark.parametrize("words", [[], ["bees"], ["--reset", "bees", "--yes"], ["--prune"]], ids=" ".join)
def test_what_was_crawled_does_not_write_to_the_terminal(place: Place, words: list[str]) -> None:
    session = place.session("bees")
    work(session, {"http://a.example/": Outcome(Code.ERROR, ESCAPES), "http://b.example/": None})
    session.leave()
    seeds = '["http://x\\u001b[2J\\u009b31m\\n\\t\\u202e\\ud800/"]'
    place.change("UPDATE crawl SET seeds = :seeds", seeds=seeds)
    place.change("UPDATE site SET name = name || :escapes", escapes=ESCAPES)
    said = place.state(*words, STATE_KEEP_DAYS=1)
    assert said.status == 0
    assert not CONTROL.search(said.out + said.err)
    if not words or words == ["bees"]:
        assert said.fact("seeds") == rf"http://x{SPELLED}\ud800/"
        assert said.fact("failed") == f"{SPELLED} (1)"
    if words == ["bees"]:
        assert f"\nb.example{SPELLED}  " in said.out


def test_a_name_is_spelled_out_too(place: Place) -> None:
    session = place.session("bees")
    session.leave()
    place.change("UPDATE crawl SET name = :name", name=f"bees{ESCAPES}")
    said = place.state()
    assert f"\nbees{SPELLED}: stopped; " in said.out
    for words in (["nope"], ["--reset", "nope"]):
        said = place.state(*words)
        assert not CONTROL.search(said.err)
        assert said.status == 2
        assert "'nope'" in said.err
        assert said.err.endswith(f" bees{SPELLED}\n")


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        (0.0, "running, 1 worker"),
        (30.0, r"running, 1 worker, .* 3\d s ago"),  # the machine may have much else to do
        (LEASE_SECONDS - 10, r"running, 1 worker, .* 5\d s ago"),
        (LEASE_SECONDS + 5, r"interrupted, .* 6[5-9] s ago; .*"),
    ],
)
def test_a_worker_is_at_it(place: Place, silent: float, expected: str) -> None:
    session = place.session("bees")
    work(session, {"http://a.example/": None})
    session.committer.commit(Batch(demand=EVERYTHING))
    place.change("UPDATE worker SET heartbeat = heartbeat - :silent", silent=silent)
    before = place.rows()
    assert re.fullmatch(f"bees: {expected}", place.state("bees").out.splitlines()[0])
    said = place.state("--reset", "bees", "--yes")
    if "running" in expected:
        assert said.status == 2
        assert re.fullmatch(rf"state: .*'bees'.* 1 \(.*\d+ s .* {LEASE_SECONDS:.0f} s .*\n", said.err)
        assert place.rows() == before
    else:
        assert said.status == 0
        assert not any(rows for name, rows in place.rows().items() if name != version.name)
    session.close()


def test_a_worker_that_comes_at_the_last_moment(either: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    session = either.session("bees")
    work(session)
    before = either.rows()
    with pytest.raises(deletion.BusyError, match="'bees'"):
        deletion.delete_crawl(either.url, "bees")
    monkeypatch.setattr(crawls.CrawlState, "alive", ())  # as the command saw it before
    said = either.state("--reset", "bees", "--yes")
    assert (said.status, said.out) == (2, "")
    assert "'bees'" in said.err
    assert either.rows() == before
    session.leave()


def test_a_worker_of_another_folder(place: Place) -> None:
    session = place.session("bees")
    place.change("UPDATE worker SET folder_id = 'elsewhere'")
    assert re.search(r"^ +1  bees\.jsonl in .* 0  0 s ago$", place.state("bees").out, re.MULTILINE)
    session.leave()


VERDICT = {
    **{"key": 1, "site_id": 1, "kind": "image", "url": "", "target": "", "page": "", "noise": True, "probability": 1.0},
    **{"reasons": "[]", "decided_by": "keyword", "audited": False, "bytes_are_measured": False, "decided_at": OLD},
    "sight": "",
}


def remember(place: Place, session: WorkerSession) -> None:
    """Have the pages of a crawl known for what they said before, what they are like, and what they came in."""
    mine = f"FROM page WHERE crawl_id = {session.crawl_id}"
    columns = "key, crawl_id, fetched_at, title, text"
    place.change(f"INSERT INTO page_version ({columns}) SELECT {columns} {mine}")
    place.change(f"INSERT INTO near_duplicate_band (crawl_id, band, key) SELECT crawl_id, 7, key {mine}")
    place.change(f"INSERT INTO erasure (crawl_id, digest, erased_at) SELECT crawl_id, '0', '' {mine} LIMIT 1")
    came = f"SELECT key, crawl_id, fetched_at, 'HTTP/1.1 200 OK', '[]', :body {mine}"
    place.change(
        f"INSERT INTO stored_response (key, crawl_id, fetched_at, status_line, headers, body) {came}", body=b"packed"
    )


def test_reset_leaves_other_crawls_and_all_files(either: Place) -> None:
    wasps = either.session("wasps")
    work(wasps, WAYS)
    wasps.committer.commit(Batch(demand=EVERYTHING))
    # What people labelled is theirs, and stays.
    labelled = "(1, 'bees', 'text', 'http://bees.example/', 'http://bees.example/', 'Bees', '{}', 0)"
    either.change(f"INSERT INTO label (key, crawl, kind, url, page, value, detail, said_at) VALUES {labelled}")
    before = either.rows()
    bees = either.session("bees")
    work(bees, WAYS)
    seed = bees.committer.commit(Batch(demand=EVERYTHING)).leases[0]
    templates = (Template("bees.example", "a", "Menu"),)
    again = (("again", "http://bees.example/"),)
    use = PatternUse("/*", Usefulness.USELESS)
    outcome = Outcome(Code.TIMEOUT)
    robots = read_robots(b"Allow: /", "http://bees.example/robots.txt", "now")
    about = {"verdict": VERDICT, "pattern_use": use, "robots": robots}
    result = PageResult(outcome, lessons=again, templates=templates, **about)
    images = {seed.site_id: Evidence()}
    bees.committer.commit(
        Batch([Completion(seed, result)], evidence=images, learned=("{}", "{}"), samples=[WorkerSample(1.0)])
    )
    bees.leave()
    remember(either, bees)
    more = {name for name, rows in either.rows().items() if len(rows) > len(before[name])}
    assert more == before.keys() - {"worker", version.name, "job", "run", "edit", "label"}
    said = either.state("--reset", "bees", "--yes")
    assert (said.status, said.err) == (0, "")
    assert re.match(r"Deleted 1 page and 9 .*'bees'\.", said.out)
    assert either.rows() == before
    assert (either.folder / "output" / "bees.jsonl").stat().st_size > 6_000
    assert re.match(r"1 crawl .*\n\nwasps: running, 1 worker\n", either.state().out)
    wasps.leave()


def test_a_crawl_that_was_reset_starts_anew(place: Place) -> None:
    for _ in range(2):
        session = place.session("bees")
        work(session)
        assert session.number == 1
        session.leave()
        place.state("--reset", "bees", "--yes")
    names = {path.name for path in (place.folder / "output").glob("*.jsonl")}
    assert names == {"bees.jsonl", "bees.previous.jsonl"}


@contextmanager
def terminal() -> Iterator[tuple[int, Any]]:
    """A terminal: where one types, and what a program reads from."""
    master, slave = os.openpty()
    with os.fdopen(slave, "r") as file:
        yield master, file
    os.close(master)


@pytest.mark.parametrize(
    ("answer", "deleted"),
    [("y", True), ("Yes", True), ("n", False), ("", False), ("yesterday", False), ("\x04", False)],
)
def test_reset_asks(place: Place, monkeypatch: pytest.MonkeyPatch, answer: str, deleted: bool) -> None:
    session = place.session("bees")
    work(session)
    session.leave()
    before = place.rows()
    with terminal() as (master, file):
        monkeypatch.setattr(sys, "stdin", file)
        os.write(master, answer.encode() + b"\n")
        said = place.state("--reset", "bees")
    assert re.fullmatch(rf"Delete 1 page and 1 .*'bees'\?.*{re.escape(str(place.folder))}.* \[y/N\] ", said.err)
    assert said.status == 0
    assert said.out.startswith("Deleted ") is deleted
    assert (place.rows() == before) is not deleted


def run(place: Place, *words: str, **streams: Any) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    line = [sys.executable, "-m", "scrapy", "state", *words]
    return subprocess.Popen(line, cwd=place.folder, env=sites.environment(), stderr=subprocess.PIPE, **streams)


@pytest.mark.long
def test_ctrl_c_answers_too(place: Place) -> None:
    session = place.session("bees")
    work(session)
    session.leave()
    before = place.rows()
    master, slave = os.openpty()
    with run(place, "--reset", "bees", stdin=slave) as process:
        try:
            said = b""
            while not said.endswith(b"[y/N] "):
                said += (piece := os.read(process.stderr.fileno(), 1_000))
                assert piece
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=30)[1] == b"\n"
        finally:
            process.kill()
    os.close(master)
    os.close(slave)
    assert process.returncode == 130
    assert place.rows() == before


@pytest.mark.long
def test_who_has_read_enough_may_go(place: Place) -> None:
    place.session("bees").leave()
    reads, writes = os.pipe()
    os.close(reads)
    with run(place, stdout=writes) as process:
        os.close(writes)
        assert process.communicate(timeout=30)[1] == b""
    assert process.returncode == 0


def test_reset_refuses_where_nobody_can_be_asked(place: Place) -> None:
    session = place.session("bees")
    work(session)
    session.leave()
    before = place.rows()
    said = place.state("--reset", "bees")
    assert (said.status, said.out) == (2, "")
    assert re.fullmatch(r"state: --reset bees .* 1 page and 1 address, .*--yes .*\n", said.err)
    assert place.rows() == before


def ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")


def pages_of(place: Place, ages: Iterable[str]) -> None:
    """A crawl for each page, fetched at these times."""
    for number, when in enumerate(ages):
        session = place.session(f"crawl{number}")
        work(session, fetched_at=when)
        session.leave()
        looked_at = datetime.fromisoformat(when).timestamp()
        place.change(f"UPDATE page SET checked_at = {looked_at} WHERE fetched_at = '{when}'")


def test_prune_drops_what_is_older_than_it_is_to_be(either: Place) -> None:
    pages_of(either, [ago(29.99), ago(30.01), ago(365), NEW])
    before = either.rows()
    said = either.state("--prune", STATE_KEEP_DAYS=30)
    assert (said.status, said.err) == (0, "")
    assert re.match(r"Deleted 2 pages .*\d{4}-\d\d-\d\d \d\d:\d\d UTC\. ", said.out)
    after = either.rows()
    assert after.pop("page") == [row for row in before.pop("page") if row[5] > ago(30)]
    assert after.pop("page_change") == [row for row in before.pop("page_change") if row[0] in (1, 4)]
    assert after == before
    assert re.fullmatch(r"No page .*30 days\.\n", either.state("--prune", STATE_KEEP_DAYS=30).out)
    assert either.state("crawl1").numbers("pages") == [1, 0]


@pytest.mark.parametrize(("days", "stays"), [(29, True), (31, False)])
def test_prune_keeps_old_pages_that_are_looked_at(place: Place, days: int, stays: bool) -> None:
    """A page that stays the same is fetched once, and was looked at since."""
    session = place.session("bees")
    work(session, fetched_at=ago(365))
    remember(place, session)
    session.leave()
    place.change(f"UPDATE page SET checked_at = {time.time() - days * 86_400}")
    place.state("--prune", STATE_KEEP_DAYS=30)
    rows = place.rows()
    assert [len(rows[name]) for name in ("page", "stored_response", "near_duplicate_band", "page_version")] == [
        stays,
        stays,
        stays,
        0,
    ]


def test_prune_compares_to_the_second(place: Place) -> None:
    pages_of(place, ["2026-11-21T13:39:59+00:00", "2026-11-21T13:40:00+00:00"])
    assert deletion.delete_old_pages(place.url, "2026-11-21T13:40:00+00:00") == 1
    assert [row[5] for row in place.rows()["page"]] == ["2026-11-21T13:40:00+00:00"]


def test_prune_takes_all_of_many_pages(place: Place) -> None:
    pages_of(place, [OLD])
    columns = ", ".join(one.name for one in tables.tables["page"].c if one.name not in ("id", "key", "url"))
    count = 2 * deletion.ROWS_AT_ONCE + 1
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1})"
    place.change(f"{numbers} INSERT INTO page (key, url, {columns}) SELECT i, i, {columns} FROM page, n")
    assert deletion.delete_old_pages(place.url, NEW) == count
    assert place.rows()["page"] == []


def test_prune_keeps_all_unless_told(place: Place) -> None:
    pages_of(place, [OLD])
    before = place.rows()
    said = place.state("--prune")
    assert said.status == 0
    assert said.out.startswith("STATE_KEEP_DAYS is 0: ")
    assert place.rows() == before


def test_no_bytes_are_no_word(place: Place) -> None:
    place.session("wasps").leave()
    session = place.session("bees")
    session.leave()
    assert re.fullmatch(r"Deleted 0 pages and 0 .*'bees'\.\n", place.state("--reset", "bees", "--yes").out)


def test_which_round_it_is_and_when_a_page_is_due(either: Place) -> None:
    session = either.session("bees")
    work(session)
    assert "\n  round" not in either.state("bees").out
    session.committer.commit(Batch(idle=True))
    session.leave()
    assert re.fullmatch("1; .* 21 h", either.state("bees").fact("round"))
    either.change("UPDATE page SET due_at = 1")
    assert either.state("bees").numbers("round") == [1, 1]
    session = either.session("bees")
    assert session.begin([])
    session.leave()
    state = either.state("bees")
    assert (state.numbers("round"), state.numbers("pages")) == ([2], [0, 1])


def test_prune_takes_what_is_known_of_pages_with_them(either: Place) -> None:
    session = either.session("bees")
    work(session)
    remember(either, session)
    session.leave()
    either.change("UPDATE page SET checked_at = 1")
    either.state("--prune", STATE_KEEP_DAYS=1)
    rows = either.rows()
    assert not any(rows[name] for name in ("page", "page_version", "near_duplicate_band", "stored_response"))


def fill(place: Place) -> None:
    """An old page of 2 MB."""
    session = place.session("bees")
    work(session)
    session.leave()
    place.change("UPDATE page SET text = :text, checked_at = 1", text="bees " * 400_000)


def test_prune_makes_the_file_smaller(place: Place) -> None:
    fill(place)
    said = place.state("--prune", STATE_KEEP_DAYS=1)
    assert re.search(r"crawl\.db .* 2\.\d MB to \d+\.\d kB\.\n$", said.out)
    assert (place.folder / "output" / "crawl.db").stat().st_size < 350_000
    assert sorted(path.name for path in (place.folder / "output").glob("crawl.db*")) == ["crawl.db"]


@pytest.mark.parametrize("who", ["crawl", "program"])
def test_prune_leaves_the_file_while_others_are_at_it(place: Place, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    fill(place)
    other = create_engine(place.url)
    session = place.session("wasps") if who == "crawl" else None
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.0)
    drop = deletion.delete_old_pages

    def lock_then(*arguments: Any) -> int:
        count = drop(*arguments)
        if who == "program":
            connection.exec_driver_sql("UPDATE crawl SET pages = pages")
        return count

    monkeypatch.setattr("crawler.reports.show_or_delete_crawls.delete_old_pages", lock_then)
    with other.connect() as connection:
        said = place.state("--prune", STATE_KEEP_DAYS=1)
    other.dispose()
    assert re.search(r"crawl\.db .* 2\.\d MB of it are free .*--prune", said.out)
    if session is not None:
        session.leave()
    said = place.state("--reset", "bees", "--yes")
    assert re.search(r"crawl\.db .* 2\.\d MB to \d", said.out)


def test_a_database_that_is_not_there_is_not_made(either: Place) -> None:
    where = either.url.database if either.url.drivername == "sqlite" else str(either.url)
    for words, status, name in (
        ([], 0, ""),
        (["--prune", "-s", "STATE_KEEP_DAYS=1"], 0, ""),
        (["bees"], 2, "'bees'"),
        (["--reset", "bees", "--yes"], 2, "'bees'"),
    ):
        said = either.state(*words)
        assert (said.status, bool(said.out), bool(said.err)) == (status, status == 0, status == 2)
        assert re.search(rf"{name}.* \({re.escape(str(where))} ", said.out + said.err)
    assert not list(either.folder.iterdir())
    if either.url.drivername != "sqlite":
        with postgres.connect(either.settings["STATE_URL"]) as connection:
            assert connection.execute("SELECT to_regclass('winnow_state')").fetchone() == (None,)


def test_a_file_that_has_just_gone_is_not_made(place: Place) -> None:
    with pytest.raises(read_only.StateError), read_only.reading(place.url):
        pass
    assert not list(place.folder.iterdir())
    (place.folder / "output").mkdir()
    with pytest.raises(read_only.StateError), read_only.reading(place.url):
        pass
    assert not list((place.folder / "output").iterdir())


def test_a_database_without_a_crawl(place: Place) -> None:
    open_database(place.url).dispose()
    assert place.state().out.endswith(f" {place.url.database}.\n")
    assert place.state("bees").status == 2


def garbage(place: Place) -> None:
    (place.folder / "output").mkdir()
    (place.folder / "output" / "crawl.db").write_text("This is a letter. " * 1_000)


def folder(place: Place) -> None:
    (place.folder / "output" / "crawl.db").mkdir(parents=True)


def of_a_newer_release(place: Place) -> None:
    place.session("bees").leave()
    place.change("UPDATE winnow_state SET version = 99")


@pytest.mark.parametrize(
    ("make", "why"),
    [(garbage, "not a database"), (folder, "unable to open"), (of_a_newer_release, f" 99; .* {newest_version()}")],
)
def test_a_database_that_cannot_be_read(place: Place, make: Callable[[Place], None], why: str) -> None:
    make(place)
    for words in ([], ["bees"], ["--reset", "bees", "--yes"], ["--prune"]):
        said = place.state(*words, STATE_KEEP_DAYS=1)
        assert (said.status, said.out) == (1, "")
        assert re.fullmatch(rf"state: .* {re.escape(str(place.url.database))} .*{why}.*\n", said.err)


def test_a_server_that_is_away(place: Place) -> None:
    said = place.state(STATE_URL="postgresql+psycopg://me:secret@127.0.0.1:1/crawls")
    assert said.status == 1
    assert " postgresql+psycopg://me:***@127.0.0.1:1/crawls " in said.err
    assert said.err.count("\n") == 1
    assert "secret" not in said.err


def test_the_password_is_not_shown(emptied_database: str, place: Place) -> None:
    place.url = make_url(emptied_database).set(password="secret")
    place.settings["STATE_URL"] = place.url.render_as_string(hide_password=False)
    for words in ([], ["bees"], ["--reset", "bees", "--yes"]):
        assert "secret" not in (said := place.state(*words)).out + said.err
        assert "postgres:***@127.0.0.1" in said.out + said.err
    place.session("bees").leave()
    for words in ([], ["bees"], ["--prune"]):
        assert "secret" not in (said := place.state(*words, STATE_KEEP_DAYS=1)).out + said.err
        assert said.status == 0


def test_wrong_use(place: Place) -> None:
    for words, named in (
        (["a", "b"], "'b'"),
        (["a", "--prune"], "--prune"),
        (["a", "--reset", "b"], "--reset"),
        (["--prune", "--reset", "b"], "--prune"),
        (["--yes"], "--yes .*--reset"),
        (["--prune", "--yes"], "--yes .*--reset"),
        (["--delete"], "'--delete'"),
        (["-s", "STATE_KEEP_DAYS=-1"], "STATE_KEEP_DAYS='-1' .* 0 to 36,500"),
        (["--prune", "-s", "STATE_KEEP_DAYS=36501"], "STATE_KEEP_DAYS='36501' .* 0 to 36,500"),
        (["-s", "SITE_PAGE_LIMIT=0"], "SITE_PAGE_LIMIT='0' .* 1 to 100,000,000"),
        (["-s", "nonsense"], "-s NAME=VALUE"),
    ):
        said = place.state(*words)
        assert (said.status, said.out) == (2, ""), words
        assert re.fullmatch(f"state: .*{named}.*\n", said.err), words
    assert place.state(STATE_URL="mysql://x/y").status == 2
    assert not list(place.folder.iterdir())
    for days in ("0", "36500"):
        assert place.state("--prune", STATE_KEEP_DAYS=days).status == 0


def test_reading_waits_for_nobody_and_changes_nothing(place: Place) -> None:
    session = place.session("bees")
    work(session, WAYS)
    session.leave()
    file = place.folder / "output" / "crawl.db"
    before = file.read_bytes(), sorted(path.name for path in file.parent.iterdir())
    assert place.state().status == place.state("bees").status == 0
    assert (file.read_bytes(), sorted(path.name for path in file.parent.iterdir())) == before
    other = open_database(place.url)
    with other.begin() as connection:  # which lets nobody else write
        connection.execute(address.delete().where(address.c.host_id.in_(select(host.c.id))))
        started = time.monotonic()
        assert place.state("bees").numbers("addresses") == [2, 0, 7]
        assert time.monotonic() - started < database.LOCK_SECONDS
        connection.rollback()
    other.dispose()


def test_reading_could_not_write(either: Place) -> None:
    either.session("bees").leave()
    with (
        pytest.raises(read_only.StateError, match=r"cannot be read: .*read-?only"),
        read_only.reading(either.url) as connection,
    ):
        connection.execute(text("UPDATE crawl SET pages = 7"))


# A real crawl, of pages, a dead link and an image.
ROUTES = {
    "/": page(
        "Honey bees keep stores of honey. " * 20,
        links={"/a": "bees", "/gone": "bees", "/b": "bees", "/old": "bees"},
    ),
    "/a": page("Bees fly from flower to flower. " * 20, links={"/": "home", "/quiet": "bees"}),
    "/quiet": page("Nobody may keep this. " * 20, head='<meta name="robots" content="noindex">'),
    "/b": Answer(b"\x89PNG", content_type="image/png"),
    "/old": Answer("", 301, headers={"Location": "/new"}),
    "/new": page("Bees dance to tell where the flowers are. " * 20),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl that ended."""
    with serving(Site(ROUTES)) as site:
        return crawl(tmp_path_factory.mktemp("crawled"), {"seeds": site.url, "name": "bees", "topic": "bees"})


def test_a_real_crawl_is_told_as_its_closing_lines_did(
    crawled: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawled.status == 0, crawled.err
    shutil.copytree(crawled.folder / "output", tmp_path / "output")
    here = Place(tmp_path, URL.create("sqlite", database=str(tmp_path / "output" / "crawl.db")), capsys)
    said = here.state("bees")
    assert re.match(rf"bees: {FINISHED}\n", said.out)
    assert said.numbers("pages") == [len(crawled.items("bees"))] == [3]
    assert said.numbers("addresses") == [0, 0, 7]
    assert said.numbers("done") == [3, 1, 2, 1]
    told = f"{said.fact('left out')}, {said.fact('failed')}"
    counts = re.findall(r"(.+?) \((\d+)\)(?:, |$)", told)
    assert {why: int(count) for why, count in counts} == crawled.counts()
    size = (tmp_path / "output" / "bees.jsonl").stat().st_size
    assert said.fact("items").endswith(f"bees.jsonl ({size / 1000:.1f} kB)")
    assert here.state("--reset", "bees", "--yes").status == 0


@pytest.mark.long
def test_outside_a_checkout_on_a_terminal(crawled: Crawl) -> None:
    master, slave = os.openpty()
    line = [sys.executable, "-m", "scrapy", "state", "bees"]
    environment = sites.environment() | {"COLUMNS": "60", "TERM": "xterm"}
    process = subprocess.Popen(line, cwd=crawled.folder, env=environment, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    written = b""
    while True:
        try:
            piece = os.read(master, 10_000)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(master)
    assert process.wait(30) == 0
    lines = re.sub(r"\x1b\[[\d;]*m", "", written.decode()).replace("\r", "").split("\n")
    assert "\x1b[1mbees: finished on " in written.decode()
    assert max(map(len, lines)) <= 60
    assert any(re.fullmatch(r"127\.0\.0\.1:\d+ +3 +0 +0% *", line) for line in lines)
    assert any(re.match(r" +items +output/bees\.jsonl", line) for line in lines)
