"""`scrapy clean --stored`: the texts of a crawl's pages made anew in the database, compared with those of a crawl."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from fallback_servers import DOUBTFUL, TEXT
from sites import OPEN, Crawl, Site, crawl, environment, page, serving
from sqlalchemy import create_engine, delete, func, insert, select, update
from sqlalchemy.engine import URL

from crawler.contrib.bulk.clean_stored_rows import MADE_ANEW
from crawler.contrib.dashboard.search_index import SearchIndex
from crawler.extraction import version
from crawler.store import crawl_tables, page_tables

KEPT = OPEN | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
WORDS = "bees gather nectar from clover and thyme in the warm hours before noon while guards wait at the hive".split()
PAGES = 9


def article(number: int) -> str:
    """A page of its own, with a menu, a picture and a link in the text."""
    sentences = [" ".join(WORDS[(number * 7 + turn * (number + 3)) % len(WORDS) :]) for turn in range(12)]
    lines = [f"In the year {1900 + number} the {sentence.capitalize()}, as we saw." for sentence in sentences]
    lines[2] += f' See <a href="/page{(number + 1) % PAGES}">the next hive</a> too.'
    links = {f"/page{other}": f"Hive {other}" for other in range(PAGES)}
    return page(*lines, links=links, head=f'<meta name="author" content="Ada Keeper {number}">')


def bees() -> Site:
    """A site; the last two of its pages are nearly the same."""
    routes = {f"/page{number}": article(number) for number in range(PAGES)}
    routes[f"/page{PAGES - 1}"] = routes[f"/page{PAGES - 2}"].replace("as we saw", "as we saw it", 1)
    links = {f"/page{number}": f"Hive {number}" for number in range(PAGES)}
    return Site({"/": page("All hives of the bees are here.", links=links)} | routes)


class Place:
    """A folder with crawls of one site in a database, and the command given there, in this process."""

    def __init__(self, folder: Path, url: URL, capture: Any, site: Site) -> None:
        self.folder, self.url, self.capture, self.site = folder, url, capture, site
        self.settings = {"STATE_URL": url.render_as_string(hide_password=False)}

    def crawl(self, name: str, **more: str) -> Crawl:
        ended = crawl(self.folder, {"seeds": self.site.url, "name": name} | more, KEPT | self.settings)
        assert ended.status == 0, ended.err
        return ended

    def words(self, *words: str) -> list[str]:
        given = self.settings | {"OUTPUT_DIR": str(self.folder / "output")}
        return ["clean", *words, *(word for name, value in given.items() for word in ("-s", f"{name}={value}"))]

    def clean(self, *words: str) -> tuple[int, str]:
        status, _, err = run_command(self.capture, *self.words(*words))
        return status, err

    def ask(self, statement: Any) -> Any:
        engine = create_engine(self.url)
        try:
            with engine.begin() as connection:
                found = connection.execute(statement)
                return found.mappings().all() if found.returns_rows else None
        finally:
            engine.dispose()

    def pages(self, name: str, *columns: str) -> dict[str, Mapping[str, Any]]:
        of = select(crawl_tables.crawl.c.id).where(crawl_tables.crawl.c.name == name).scalar_subquery()
        table = page_tables.page
        wanted = select(table.c.url, *(table.c[name] for name in columns or (*MADE_ANEW, "duplicate_of")))
        return {row["url"]: dict(row) for row in self.ask(wanted.where(table.c.crawl_id == of))}

    def bands(self, name: str) -> dict[str, int]:
        """Under how many bands each page is entered."""
        table, band = page_tables.page, page_tables.near_duplicate_band
        of = select(crawl_tables.crawl.c.id).where(crawl_tables.crawl.c.name == name).scalar_subquery()
        counts = select(table.c.url, func.count().label("n")).join(band, band.c.key == table.c.key)
        return {row["url"]: row["n"] for row in self.ask(counts.where(band.c.crawl_id == of).group_by(table.c.url))}


@pytest.fixture
def place(tmp_path: Path, url: URL, capsys: Any) -> Any:
    with serving(bees()) as site:
        yield Place(tmp_path, url, capsys, site)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl of that site."""
    folder = tmp_path_factory.mktemp("crawled")
    url = URL.create("sqlite", database=str(folder / "crawl.db"))
    with serving(bees()) as site:
        Place(folder, url, None, site).crawl("bees")
    return folder


@pytest.fixture
def stored(tmp_path: Path, crawled: Path, sqlite_url: URL, capsys: Any) -> Place:
    """A copy of that crawl, whose site is away."""
    shutil.copytree(crawled, tmp_path, dirs_exist_ok=True)
    return Place(tmp_path, sqlite_url, capsys, bees())


@pytest.fixture
def here(tmp_path: Path, sqlite_url: URL, capsys: Any) -> Any:
    with serving(bees()) as site:
        yield Place(tmp_path, sqlite_url, capsys, site)


def without_copies(pages: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """All but which of two near-duplicates is the original, which the order of the crawl decides."""
    return {url: {name: value for name, value in row.items() if name != "duplicate_of"} for url, row in pages.items()}


def test_pages_are_as_a_crawl_would_make_them_and_the_next_round_finds_none_changed(place: Place) -> None:
    place.crawl("wanted", extractor="auto", markdown="links", quality="yes")
    place.crawl("bees", extractor="crunch", quality="yes")
    wanted, before = place.pages("wanted"), place.pages("bees")
    assert len(wanted) == PAGES + 1
    assert without_copies(wanted) != without_copies(before)
    status, err = place.clean("--stored", "bees", "--method", "auto", "--markdown=links")
    assert status == 0, err
    assert f"{PAGES + 1} pages cleaned again" in err
    assert "winnow export --name bees " in err
    after = place.pages("bees")
    changes = select(page_tables.page_change.c.key).order_by(page_tables.page_change.c.offset.desc()).limit(PAGES + 1)
    last = {row["key"] for row in place.ask(changes)}
    renewed = place.pages("bees", "key", "change", "round").values()
    assert {(row["key"], row["change"], row["round"]) for row in renewed} == {(key, "renewed", 1) for key in last}
    assert without_copies(after) == without_copies(wanted)
    twins = {f"{place.site.url}page{PAGES - 1}", f"{place.site.url}page{PAGES - 2}"}
    copies = {url: row["duplicate_of"] for url, row in after.items() if row["duplicate_of"]}
    assert len(copies) == 1
    assert {*copies, *copies.values()} == twins
    entered = place.bands("bees")
    assert entered.keys() == after.keys() - copies.keys()
    assert set(entered.values()) == set(place.bands("wanted").values())
    ended = place.crawl("bees", extractor="auto", markdown="links", refresh="all")
    assert f"{PAGES + 1} unchanged" in ended.closing()
    assert "changed: " not in ended.closing().replace("unchanged", "")
    assert without_copies(place.pages("bees")) == without_copies(wanted)


def test_a_method_needs_what_the_crawl_learned(here: Place) -> None:
    here.crawl("bees", extractor="auto")
    before = here.pages("bees")
    _, err = here.clean("--stored", "bees", "--jobs", "1", "--method", "template")
    assert f"Unchanged: {len(before)} pages" in err
    assert here.pages("bees") == before


def test_a_page_keeps_its_method_and_its_markdown(here: Place) -> None:
    here.crawl("bees", extractor="auto", favour="recall", markdown="links")
    assert here.clean("--stored", "bees", "--jobs", "1")[0] == 0  # with what the crawl learned of the site by its end
    before = here.pages("bees")
    here.ask(
        update(page_tables.page).values(text="old", title="old", author="old", markdown="[old](http://a.example/)")
    )
    status, err = here.clean("--stored", "bees", "--jobs", "1")
    assert status == 0, err
    assert here.pages("bees") == before
    here.ask(update(page_tables.page).values(markdown=None))
    assert here.clean("--stored", "bees", "--jobs", "1")[0] == 0
    assert {row["markdown"] for row in here.pages("bees").values()} == {None}


def test_a_second_method_makes_the_texts_of_pages_in_doubt(here: Place) -> None:
    here.site.routes["/"] = DOUBTFUL
    here.crawl("bees")
    second = "fallback_servers.second_text"
    assert here.clean("--stored", "bees", "--jobs", "1", "-s", f"EXTRACTOR_FALLBACK={second}")[0] == 0
    (page,) = here.pages("bees", "text", "extractor", "extractor_version").values()
    assert (page["text"], page["extractor"]) == (TEXT, second)
    assert page["extractor_version"] == version("auto", fallback=second)
    assert here.clean("--stored", "bees", "--jobs", "1")[0] == 0
    (page,) = here.pages("bees", "text", "extractor", "extractor_version").values()
    assert page["text"].startswith("Hive 0")
    assert (page["extractor"], page["extractor_version"]) == ("auto", version("auto"))


def test_pages_without_the_response_they_were_made_of_are_left_as_they_are(stored: Place) -> None:
    kept = page_tables.stored_response
    first, second, *_ = sorted(row["key"] for row in stored.pages("bees", "key").values())
    stored.ask(delete(kept).where(kept.c.key == first))
    stored.ask(update(kept).where(kept.c.key == second).values(fetched_at="2001-01-01T00:00:00+00:00"))
    stored.ask(update(page_tables.page).values(text="old"))
    status, err = stored.clean("--stored", "bees", "--jobs", "1")
    assert status == 0, err
    assert f"{PAGES - 1} pages cleaned again" in err
    assert re.search(r"Unchanged: 2 pages .*KEEP_RESPONSES", err)
    old = {row["key"] for row in stored.pages("bees", "key", "text").values() if row["text"] == "old"}
    assert old == {first, second}
    stored.ask(delete(kept))
    status, err = stored.clean("--stored", "bees", "--jobs", "1")
    assert status == 1
    assert re.search(rf"\b{PAGES + 1} pages .*KEEP_RESPONSES", err)


def test_a_running_crawl_is_refused(stored: Place) -> None:
    (crawl_id,) = (row["id"] for row in stored.ask(select(crawl_tables.crawl.c.id)))
    alive = {"crawl_id": crawl_id, "number": 1, "folder_id": "elsewhere", "heartbeat": time.time()}
    stored.ask(insert(crawl_tables.worker).values(**alive))
    stored.ask(update(page_tables.page).values(text="old"))
    status, err = stored.clean("--stored", "bees")
    assert (status, err.count("\n"), "'bees'" in err) == (1, 1, True)
    assert {row["text"] for row in stored.pages("bees", "text").values()} == {"old"}
    stored.ask(update(crawl_tables.worker).values(heartbeat=time.time() - 120))
    assert stored.clean("--stored", "bees", "--jobs", "1")[0] == 0


@pytest.mark.long
@pytest.mark.parametrize(("at_once", "saves"), [(2, 3), (PAGES + 1, 1)])
def test_a_run_killed_after_a_save_goes_on(at_once: int, saves: int, stored: Place) -> None:
    assert stored.clean("--stored", "bees", "--jobs", "1")[0] == 0  # with what the crawl learned of the site by its end
    before = stored.pages("bees")
    stored.ask(update(page_tables.page).values(text="old", text_fingerprint=None, duplicate_of="http://old.example/"))
    stored.ask(delete(page_tables.near_duplicate_band))
    code = (
        f"import os, sys\nfrom crawler.contrib.bulk import clean_stored\nclean_stored.PAGES_AT_ONCE = {at_once}\n"
        "saves, save = [], clean_stored.save_pages\n"
        "def dying(*given):\n"
        f"    save(*given)\n    saves.append(1)\n    len(saves) == {saves} and os.kill(os.getpid(), 9)\n"
        "clean_stored.save_pages = dying\nfrom scrapy.cmdline import execute\nexecute(sys.argv)\n"
    )
    line = [sys.executable, "-c", code, *stored.words("--stored", "bees", "--jobs", "1")]
    env = environment() | {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    killed = subprocess.run(line, cwd=stored.folder, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert sum(row["text"] == "old" for row in stored.pages("bees", "text").values()) == PAGES + 1 - saves * at_once
    status, err = stored.clean("--stored", "bees", "--jobs", "1")
    assert status == 0, err
    assert f"{PAGES + 1 - (saves - 1) * at_once} pages cleaned again" in err
    after = stored.pages("bees")
    assert without_copies(after) == without_copies(before)
    originals = {url for url, row in after.items() if not row["duplicate_of"]}  # of two in a batch, either one
    assert (stored.bands("bees").keys(), len(originals)) == (originals, PAGES)
    assert not list((stored.folder / "output").glob(".bees.clean.json*"))


def test_a_page_that_cannot_be_cleaned_costs_no_other(stored: Place) -> None:
    first, *_ = sorted(row["key"] for row in stored.pages("bees", "key").values())
    kept = page_tables.stored_response
    stored.ask(update(kept).where(kept.c.key == first).values(body=b"no zstd"))
    status, err = stored.clean("--stored", "bees", "--jobs", "1")
    assert status == 1
    assert "(ZstdError" in err
    assert f"{PAGES} pages cleaned again" in err
    assert "Unchanged: 1 page " in err


def test_the_search_index_finds_the_new_texts(stored: Place) -> None:
    (row,) = stored.ask(select(crawl_tables.crawl.c.id, crawl_tables.crawl.c.started_at))
    number, started = row["id"], row["started_at"]
    stored.ask(update(page_tables.page).values(text="wasps"))
    index = SearchIndex(stored.url, Path(str(stored.url.database)).with_name("crawl-search.db"))
    while not index.update(number, started):
        time.sleep(0.05)
    assert index.find(number, ["nectar"], None, 100) == []
    assert stored.clean("--stored", "bees", "--jobs", "1")[0] == 0
    later = SearchIndex(stored.url, index.path)
    while not later.update(number, started):
        time.sleep(0.05)
    assert len(later.find(number, ["nectar"], None, 100) or ()) >= PAGES


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--stored", "bees", "a.html"), "INPUT and --stored NAME exclude each other"),
        (("--stored", "bees", "-o", "a.jsonl"), "-o does not go with --stored NAME"),
        (("--stored", "bees", "--with", "author"), "--with does not go with --stored NAME"),
        (("--stored", "bees"), "no crawl was ever run here"),
        (("--stored", "bees", "--method", "best"), "there is no method 'best'"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path: Path, capsys: Any, words: tuple[str, ...], said: str) -> None:
    status, _, err = run_command(capsys, "clean", *words, "-s", f"OUTPUT_DIR={tmp_path / 'output'}")
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
    assert not (tmp_path / "output").exists()
