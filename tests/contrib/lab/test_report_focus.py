"""`scrapy focus report` says how well crawls kept to their topics, without touching what is in the database."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from sites import Crawl, crawl
from sqlalchemy import create_engine, insert
from sqlalchemy.engine import URL, make_url

from crawler.contrib.lab.focus_figures import MOST_POINTS
from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate, Completion, FoundBy, PageResult
from crawler.items import PageItem
from crawler.store.crawl_tables import crawl as crawl_table
from crawler.store.database import open_database
from crawler.store.page_tables import focus, page
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

EVERYTHING = ClaimRequest(hosts=100, addresses=1_000, each_host=100)
SYNTAX = "usage: winnow focus report [--name NAME] [-o FILE.html] [--min-relevance X] [--truth FILE]"
WRONG_SHARE = "is wrong; allowed are numbers from 0 to 1"
EVIL = "<script>alert(1)</script>\x1b[2J\u202e"
MANY, SECONDS = 200_000, 10.0


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int
    out: str
    err: str


class Place:
    """A folder with a database, and the command given there."""

    def __init__(self, folder: Path, url: URL, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.url, self.capture = folder, url, capture
        self.settings = {} if url.drivername == "sqlite" else {"STATE_URL": url.render_as_string(hide_password=False)}

    def report(self, *words: str, **settings: Any) -> Said:
        given = {"OUTPUT_DIR": str(self.folder / "output")} | self.settings | settings
        line = ["focus", "report", *words]
        line += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        return Said(*run_command(self.capture, *line))

    def crawl(self, name: str, pages: Iterable[dict[str, Any]] = (), waiting: Iterable[Candidate] = ()) -> None:
        """What a crawl leaves that stored these pages."""
        plan = CrawlPlan(name, ("http://seed.org/",), self.folder / "output", Canonical(()), 10_000)
        engine = open_database(self.url)
        session = WorkerSession(engine, plan)
        items = {f"http://site{number}.org/": fields for number, fields in enumerate(pages)}
        session.seed([Candidate(url, kind=AddressKind.SEED, via=FoundBy.SEED) for url in items])
        leases = session.committer.commit(Batch(demand=EVERYTHING)).leases
        ended = [
            Completion(one, PageResult(record=item(one.candidate.url, items[one.candidate.url]))) for one in leases
        ]
        session.committer.commit(Batch(ended, rests_of_dropped_hosts={one.host_id: 0.0 for one in leases}))
        session.seed(waiting)
        session.leave()
        engine.dispose()

    def change(self, *statements: Any) -> None:
        engine = create_engine(self.url)
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(statement)
        engine.dispose()


def item(url: str, fields: dict[str, Any]) -> dict[str, Any]:
    return asdict(PageItem(url, url, "2026-11-22T00:00:00+00:00", 200, 0, None)) | fields


@pytest.fixture
def sqlite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    """A place where no crawl was ever run."""
    return Place(tmp_path, URL.create("sqlite", database=str(tmp_path / "output" / "crawl.db")), capsys)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    """The same, with each database."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite")
    return Place(tmp_path, make_url(request.getfixturevalue("emptied_database")), capsys)


def bees(place: Place) -> None:
    """Leave a crawl of three pages, of which two are on topic; and what it learned."""
    pages = [
        {"relevance": 0.75, "link_score": None, "via": "seed", "title": "Bees", "text": "They dance."},
        {"relevance": 0.5, "link_score": 0.625, "via": "link", "title": "Honey"},
        {"relevance": 0.25, "link_score": 0.125, "via": "feed", "title": "Shop"},
    ]
    place.crawl("bees", pages, [Candidate("http://next.org/1", 500), Candidate("http://next.org/2", 499)])
    words = {"pages": 3, "topic": [["honey", 0.5]], "good": [["hive", 2.0]], "bad": [["shop", -1.5]], "let_go": 0}
    row = {"crawl_id": 1, "number": 1, "saved": 0.0, "summary": json.dumps(words), "learned": "{}"}
    place.change(insert(focus).values(row))


# What it says.


def test_the_whole_report(place: Place) -> None:
    bees(place)
    said = place.report()
    assert (said.status, said.err) == (0, "")
    for line in (
        "bees: 3 pages stored, 2 on topic (relevance of 0.5 or more): harvest 66.7%, of the last 3 pages 66.7%.",
        "2 addresses are queued; 1 of them with a link score of 0.5 or more, or seeds.",
        "  feed          1         0     0.0%       0.25        0.12",
        "  site0.org      1         1   100.0%       0.75           –  http://site0.org/",
        "  0.6 to 0.7           1         1   100.0%       0.50        0.62",
        "Words of the topic: honey 0.5",
        "Words of links that led to it: hive 2",
        "Words of links that led elsewhere: shop -1.5",
        "       0.75           –  http://site0.org/  Bees",
    ):
        assert line in said.out.splitlines()
    assert "They dance" not in said.out


def test_the_file_says_the_same(place: Place) -> None:
    bees(place)
    target = place.folder / "report.html"
    said = place.report("-o", str(target))
    assert said.status == 0
    html = target.read_text("utf-8")
    assert "harvest 66.7%" in html
    assert html.count("<svg") == 2
    assert [path.name for path in place.folder.iterdir() if "report" in path.name] == ["report.html"]


def test_it_is_in_the_language_of_the_command_line(sqlite: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    bees(sqlite)
    target, truth = sqlite.folder / "report.html", sqlite.folder / "truth.txt"
    truth.write_text("http://site0.org/\nnothing\n", "utf-8")
    said = sqlite.report("-o", str(target), "--truth", str(truth))
    assert said.err == f"focus report: {truth}：第 2 行：不是网址，已略过\n"
    for line in ("主题的词语：honey 0.5", "页面的发现方式：", "已知切题的 1 个网址中，已保存 1 个：召回率 100.0%。"):
        assert line in said.out.splitlines()
    assert "<h1>切题程度</h1>" in target.read_text("utf-8")


@pytest.mark.long
def test_the_file_wants_no_extra(sqlite: Place) -> None:
    sqlite.crawl("bees", [{"relevance": 0.9}])
    code = "import sys; sys.modules['scipy'] = None; from scrapy.cmdline import execute; execute()"
    words = "focus", "report", "-o", "report.html", "-s", "OUTPUT_DIR=output"
    ways = {"PYTHONPATH": os.pathsep.join(sys.path), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    line, its_own = [sys.executable, "-c", code, *words], os.environ | ways
    said = subprocess.run(line, capture_output=True, text=True, cwd=sqlite.folder, env=its_own, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    assert "bees" in (sqlite.folder / "report.html").read_text(encoding="utf-8")


def test_it_changes_nothing(sqlite: Place) -> None:
    bees(sqlite)
    path = sqlite.folder / "output" / "crawl.db"
    before = path.read_bytes()
    assert sqlite.report().status == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "on_topic"), [((), 2), (("--min-relevance", "0.25"), 3), (("--min-relevance=0.76",), 0)]
)
def test_from_which_relevance_on(sqlite: Place, words: tuple[str, ...], on_topic: int) -> None:
    bees(sqlite)
    assert f"3 pages stored, {on_topic} on topic" in sqlite.report(*words).out


def test_one_crawl_or_all_that_have_pages(sqlite: Place) -> None:
    bees(sqlite)
    sqlite.crawl("empty")
    sqlite.crawl("wasps", [{"relevance": 1.0}])
    said = sqlite.report("-o", str(sqlite.folder / "report.html"))
    assert re.findall(r"^(\w+): \d+ pages? stored", said.out, re.MULTILINE) == ["bees", "wasps"]
    assert re.findall(r"<h2><bdi>(\w+)<", (sqlite.folder / "report.html").read_text("utf-8")) == ["bees", "wasps"]
    assert re.findall(r"^(\w+): \d", sqlite.report("--name", "wasps").out, re.MULTILINE) == ["wasps"]


def test_recall_by_the_truth(sqlite: Place) -> None:
    bees(sqlite)
    path = sqlite.folder / "truth.txt"
    path.write_text("# known\n\nhttp://site0.org/?utm_source=x\nhttp://site2.org\nhttp://site9.org\nnothing\n", "utf-8")
    said = sqlite.report("--truth", str(path))
    assert said.status == 0
    assert said.err.startswith(f"focus report: {path}: line 6: ")
    assert said.err.count("\n") == 1
    assert re.search(r"\b3 addresses .*\b2 .* 66\.7%", said.out)
    assert re.search(r"\b2 stored .*\b1 .*50\.0%", said.out)
    assert re.search(r"harvest so far +recall$", said.out, re.MULTILINE)


def test_without_anything_learned_it_says_so(sqlite: Place) -> None:
    sqlite.crawl("old", [{"relevance": 1.0, "link_score": None, "via": "seed"}])
    said = sqlite.report()
    assert said.status == 0
    assert "  seed          1         1   100.0%       1.00           –" in said.out.splitlines()


def test_what_was_crawled_moves_no_cursor_and_becomes_no_markup(place: Place) -> None:
    place.crawl("evil", [{"relevance": 1.0, "title": EVIL, "via": EVIL, "url": f"http://evil.org/{EVIL}"}])
    words = json.dumps({"pages": 1, "topic": [[EVIL, 1], ["\ud800", 1]], "good": [], "bad": [], "let_go": 0})
    place.change(insert(focus).values(crawl_id=1, number=1, saved=0.0, summary=words, learned="{}"))
    target = place.folder / "report.html"
    said = place.report("-o", str(target))
    assert said.status == 0
    assert "\x1b" not in said.out
    assert "\u202e" not in said.out
    assert r"<script>alert(1)</script>\x1b[2J\u202e" in said.out
    html = target.read_text("utf-8")
    assert "<script" not in html
    assert "\x1b" not in html


# What it refuses.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["x"], f"unrecognized arguments: x; {SYNTAX}"),
        (["--x"], f"unrecognized arguments: --x; {SYNTAX}"),
        (["--name"], f"argument --name: expected one argument; {SYNTAX}"),
        (["--name", "wasps"], "there is no crawl 'wasps'; there are bees"),
        *(
            (
                ["--min-relevance", given],
                f"argument --min-relevance: {given!r} is wrong; allowed are numbers from 0 to 1; {SYNTAX}",
            )
            for given in ("1.01", "nan", "half", "-0.1")
        ),
        (["--truth", "nowhere.txt"], "'nowhere.txt' cannot be read (No such file or directory)"),
        (["-o", ""], "'' cannot be written to (Is a directory)"),
        (["-o", "nowhere/x.html"], "'nowhere/x.html' cannot be written to (No such file or directory)"),
    ],
)
def test_wrong_use_is_one_sentence(
    sqlite: Place, words: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bees(sqlite)
    monkeypatch.chdir(sqlite.folder)
    words = [words[0] + "=" + words[1]] if words[-1].startswith("-0") else words
    said = sqlite.report(*words)
    assert (said.status, said.out, said.err) == (2, "", f"focus report: {expected}\n")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "contains no address"),
        (b"# bees\n\n", "contains no address"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_a_truth_without_addresses(sqlite: Place, content: bytes, expected: str) -> None:
    bees(sqlite)
    path = sqlite.folder / "truth.txt"
    path.write_bytes(content)
    said = sqlite.report("--truth", str(path))
    assert (said.status, said.err) == (2, f"focus report: {str(path)!r} {expected}\n")


def test_a_broken_setting_of_parameters(sqlite: Place) -> None:
    bees(sqlite)
    path = sqlite.folder / "truth.txt"
    path.write_text("http://a.org\n")
    said = sqlite.report("--truth", str(path), IGNORED_PARAMETERS="(")
    assert said.status == 2
    assert re.match(r"focus report: .*IGNORED_PARAMETERS .*'\('", said.err)


def test_what_is_read_is_not_written_to(sqlite: Place) -> None:
    bees(sqlite)
    database, truth = sqlite.folder / "output" / "crawl.db", sqlite.folder / "truth.txt"
    truth.write_text("http://a.org\n")
    before = database.read_bytes()
    for target in (database, truth):
        said = sqlite.report("--truth", str(truth), "-o", str(target))
        assert (said.status, said.out) == (2, "")
        assert repr(str(target)) in said.err
    assert (database.read_bytes(), truth.read_text()) == (before, "http://a.org\n")


def test_where_no_crawl_was_ever_run(place: Place) -> None:
    said = place.report()
    assert (said.status, said.out) == (2, "")
    assert re.fullmatch(r"focus report: .* \(.+\)\n", said.err)
    assert not (place.folder / "output").exists()


def test_a_crawl_without_pages_leaves_an_earlier_report_as_it_was(place: Place) -> None:
    place.crawl("empty")
    target = place.folder / "report.html"
    target.write_text("earlier")
    said = place.report("-o", str(target))
    assert said.status == 2
    assert re.fullmatch(r"focus report: .* empty .*\n", said.err)
    assert target.read_text() == "earlier"
    assert sorted(path.name for path in place.folder.iterdir()) == ["output", "report.html"]


# Real crawls, and large ones.


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    ended = crawl(tmp_path_factory.mktemp("demo"), {"seeds": "demo", "topic": "honey bees"}, {})
    assert ended.status == 0
    return ended


def test_a_real_crawl(demo: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    items = demo.items()
    here = Place(demo.folder, URL.create("sqlite", database=str(demo.folder / "output" / "crawl.db")), capsys)
    said = here.report("-o", str(demo.folder / "report.html"), "--min-relevance", "0.1")
    assert said.status == 0
    on_topic = [one for one in items if one["relevance"] >= 0.1]
    assert f"topic: {len(items)} pages stored, {len(on_topic)} on topic" in said.out
    assert 0 < len(on_topic) < len(items)
    best = max(items, key=lambda one: one["relevance"])
    assert f"{best['relevance']:.2f}" in said.out
    assert best["title"] in (demo.folder / "report.html").read_text("utf-8")


@pytest.mark.long
def test_many_pages_take_seconds_and_their_curves_stay_small(sqlite: Place) -> None:
    open_database(sqlite.url).dispose()
    sqlite.change(insert(crawl_table).values(id=1, name="large", seeds="[]", started_at=0.0))
    row = item("", {"images": "[]", "text": "Bees dance. " * 100, "via": "link"})
    row = {name: value for name, value in row.items() if name in page.c} | {"crawl_id": 1}
    engine = create_engine(sqlite.url)
    with engine.begin() as connection:
        for first in range(0, MANY, 10_000):
            rows = [
                row
                | {"key": n, "url": f"http://site{n % 977}.org/{n}", "relevance": n % 100 / 99, "link_score": n % 7 / 7}
                for n in range(first, first + 10_000)
            ]
            connection.execute(insert(page), rows)
    engine.dispose()
    target = sqlite.folder / "report.html"
    began = time.process_time()  # the machine may have much else to do
    said = sqlite.report("-o", str(target))
    assert time.process_time() - began < SECONDS
    assert said.status == 0
    assert f"large: {MANY:,} pages stored, {MANY // 2:,} on topic" in said.out
    assert "927 more of 977 sites" in said.out
    html = target.read_text("utf-8")
    points = [len(line.split()) for line in re.findall(r'<polyline [^>]*points="([^"]+)"', html)]
    assert [MOST_POINTS // 2 < count <= MOST_POINTS for count in points] == [True] * 3
    assert len(html) < 100_000
