"""What is marked on the dashboard is gold: exported by the command, it is what `scrapy evaluate` reads and judges."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from dashboard_client import Request, answer
from missing import need
from scrapy.settings import Settings
from sqlalchemy import create_engine, update
from sqlalchemy.engine import URL

from crawler import settings as our_settings
from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.lab.evaluation.gold import read_set
from crawler.extraction import EXTRACTORS
from crawler.page.page import Page
from crawler.store.page_tables import page

MOST = 6


class Place:
    """A copy of a crawl, its dashboard, and commands that are given there, in this process."""

    def __init__(self, output: Path, capture: Any) -> None:
        self.output, self.capture = output, capture
        self.url = URL.create("sqlite", database=str(output / "crawl.db"))
        self.settings = Settings()
        self.settings.setmodule(our_settings)
        self.desk = DashboardContext(self.url, output, self.settings, AccessControl())

    def numbers(self) -> list[int]:
        """Some pages of the queue, the most certain of its first part."""
        queue = json.loads(answer(self.desk, Request("GET", "/api/labels/queue", {}, {}, {"host": "localhost"})).body)
        return [one["id"] for one in queue["pages"]][-MOST:]

    def mark(self, number: int, **more: str) -> str:
        """Label a page's blocks as the extractor says; the text that they are."""
        address = f"/labels/pages/{number}"
        headers = {"host": "localhost"}
        sheet = json.loads(answer(self.desk, Request("GET", f"/api{address}", {}, {}, headers)).body)
        form = {f"block-{line['place']}": "on" for line in sheet["lines"] if line["found"]}
        form |= {"token": self.desk.access.token, "fingerprint": sheet["fingerprint"]} | more
        assert answer(self.desk, Request("POST", address, {}, form, headers)).status == 303
        return str(sheet["text"])

    def run(self, *words: str) -> tuple[int, str, str]:
        """The exit status of a command, what it wrote and what it said."""
        return run_command(self.capture, *words, "-s", f"OUTPUT_DIR={self.output}")

    def change(self, statement: Any) -> None:
        engine = create_engine(self.url)
        with engine.begin() as connection:
            connection.execute(statement)
        engine.dispose()


@pytest.fixture
def place(copied: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(copied.parent)
    return Place(copied, capfd)


def test_what_was_marked_is_exported_and_judged(place: Place) -> None:
    need("scipy")
    texts = [place.mark(number) for number in place.numbers()]
    status, out, err = place.run("export", "--labels", "-o", "gold.jsonl")
    assert (status, out) == (0, "")
    assert re.search(rf"\b{MOST} .*gold.jsonl", err)
    found = read_set(Path("gold.jsonl"))
    assert found.faults == ()
    assert [one.gold for one in found.pages] == texts
    assert all(texts)
    for one in found.pages:
        assert EXTRACTORS["auto"](Page.from_html(one.html, one.url)).text == one.gold
        assert one.id == one.url
    assert {one.lang for one in found.pages} <= {"en", "zh"}
    status, out, err = place.run("evaluate", "gold.jsonl", "--methods", "auto", "--jobs", "1")
    assert status == 0, err
    assert "1.000" in next(line for line in out.splitlines() if line.startswith("auto"))


def test_labels_outlive_their_pages(place: Place) -> None:
    (number, *_) = place.numbers()
    text = place.mark(number)
    place.change(update(page).values(url="http://elsewhere.example/"))
    assert place.run("export", "--labels", "-o", "gold.jsonl.gz")[0] == 0
    with gzip.open("gold.jsonl.gz") as file:
        assert [json.loads(line)["gold"] for line in file] == [text]
    assert [one.gold for one in read_set(Path("gold.jsonl.gz")).pages] == [text]


def test_a_page_without_main_text_is_gold_too(place: Place) -> None:
    (number, *_) = place.numbers()
    place.mark(number, nothing="yes")
    status, out, _ = place.run("export", "--labels")
    assert (status, [json.loads(line)["gold"] for line in out.splitlines()]) == (0, [""])


def test_marks_of_one_crawl_alone(place: Place) -> None:
    (number, *_) = place.numbers()
    place.mark(number)
    name = json.loads(answer(place.desk, Request("GET", "/api/labels", {}, {}, {"host": "localhost"})).body)["crawl"]
    assert len(place.run("export", "--labels", "--name", name)[1].splitlines()) == 1
    status, out, err = place.run("export", "--labels", "--name", "wasps")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "nobody has labelled the main text of a page yet; winnow dashboard shows pages to be labelled"),
        (["--since", "1"], "--since does not go with --labels"),
        (["--only", "new"], "--only does not go with --labels"),
        (["--min-relevance", "0.5"], "--min-relevance does not go with --labels"),
        (["--fields", "url"], "--fields does not go with --labels"),
        (["--where", "en"], "--where does not go with --labels"),
        (["--format", "csv", "-o", "a.csv"], "--labels writes JSON lines"),
        (["-o", "a.csv"], "--labels writes JSON lines"),
        (["-o", "a.jsonl.zst"], "--labels writes JSON lines"),
        (["-o", "a.warc"], "--labels writes JSON lines"),
        (["-o", "output/crawl.db", "--format", "jsonl"], "cannot be the output"),
    ],
)
def test_wrong_use_is_one_sentence(crawled: Path, copied: Path, place: Place, words: list[str], why: str) -> None:
    before = sorted(path.name for path in place.output.parent.iterdir())
    status, out, err = place.run("export", "--labels", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert why in err
    assert sorted(path.name for path in place.output.parent.iterdir()) == before
