"""Pages and hosts are erased from a crawl: nothing of them is left in its folder, and they are not requested again."""

import hashlib
import json
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from fork_server import environment
from sites import OPEN, Answer, Asked, Crawl, Site, crawl, serving

from crawler.contrib.index.changes import ChangeKind, changes
from crawler.processes.held_lock import take_lock
from crawler.urls.page_id import page_id

NAME = "bees"
HOSTS = "127.0.0.1", "127.0.0.2"
SETTINGS = OPEN | {"ALLOWED_PRIVATE_HOSTS": ",".join(HOSTS), "IMAGE_NOISE_ENABLED": "True", "KEEP_VERSIONS": "5"}
SECRET = "The keeper Amalia Quennell of Tarn Street lost nineteen hives to the flood."
EARLIER = "The keeper Amalia Quennell once owned seventy hives beside the canal."
WASPS = [
    f"Wasps of the {name} nest hunt flies along the river, and nobody who walks there in {season} likes to meet them."
    for name in ("grey", "black", "white", "red", "green", "brown")
    for season in ("March", "June", "August")
]
SENTENCES = [
    f"Bees of the {name} colony carry pollen home, and the keeper counts the frames of honey when the {season} ends."
    for name in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
    for season in ("spring", "summer", "autumn")
]

KILL = """
import os, signal, sys
from pathlib import Path
from crawler.contrib.index import erase_files, forget
from crawler.contrib.index.erasure_targets import erasure_targets
from crawler.store.database import database_url
from crawler.urls.canonical import Canonical

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

{place} = kill
folder = Path("output")
forget.erase(database_url("", folder), folder, "bees", erasure_targets(sys.argv[1:], Canonical([])))
"""
KILLED_AT = {
    "image": KILL.format(place="erase_files.CrawlFiles._delete_images"),
    "commit": KILL.format(place="forget.CrawlFiles.erase"),
    "replace": KILL.format(place="forget.CrawlFiles.replace"),
    "vacuum": KILL.format(place="forget._wipe_free_space"),
}
"""Erases in this process until it is about to do something, and is killed there."""


def photo(number: int) -> bytes:
    """A PNG of 200 x 150 in one colour."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + bytes((number, 90, 200)) * 200) * 150
    head = struct.pack(">IIBBBBB", 200, 150, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def html(title: str, sentences: list[str], links: dict[str, str], image: str = "") -> str:
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    anchors = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in links.items())
    shown = f'<figure><img src="{image}" alt="{title} in June" width="200" height="150"></figure>' if image else ""
    return (
        f"<html lang=en><title>{title}</title><article><h1>{title}</h1>{shown}{paragraphs}</article><ul>{anchors}</ul>"
    )


def person(asked: Asked) -> Answer:
    """The page that is erased, which changes with each visit."""
    first = EARLIER if asked.times == 0 else SECRET
    links = {"/left": "what Amalia Quennell left", "/": "home"}
    return Answer(html("A keeper", [first, *SENTENCES], links, "/photo-1.png"))


def web(other: str) -> Site:
    """A site of a person's page, its near-duplicate, a page that links to it, one that leads to it, and others."""
    links = {
        "/person": "the keeper",
        "/linking": "of the keeper",
        "/short": "short",
        "/copy": "copy",
        "/other": "other",
    }
    return Site(
        {
            "/": html("Bees", SENTENCES[3:9], links | {f"{other}moved": "moved"}),
            "/person": person,
            "/copy": html("A keeper", SENTENCES, {"/": "home"}, "/photo-2.png"),
            "/linking": html("Hives", SENTENCES[9:], {"/person": "the keeper"}, "/photo-3.png"),
            "/left": html("What is left", SENTENCES[5:17], {"/": "home"}, "/photo-1.png"),
            "/other": html("Wasps", SENTENCES[2:8], {f"{other}wasps": "more wasps"}, "/photo-3.png"),
            "/short": Answer(status=301, headers={"Location": "/person"}),
            "/away": Answer(status=301, headers={"Location": f"{other}new"}),
            **{f"/photo-{number}.png": Answer(photo(number), content_type="image/png") for number in (1, 2, 3)},
        }
    )


def other_web() -> Site:
    """A site of wasps, one of whose images has the same content as one of the first site."""
    return Site(
        {
            "/robots.txt": Answer("User-agent: *\nDisallow: /private\n", content_type="text/plain"),
            "/": html("Wasps of the river", WASPS[:9], {"/wasps": "all of them"}, "/photo-4.png"),
            "/wasps": html("Wasps at night", WASPS[9:], {"/": "home"}, "/photo-3.png"),
            "/moved": Answer(status=301, headers={"Location": "/wasps"}),
            "/new": html("Wasps again", WASPS[4:12], {"/": "home"}),
            **{f"/photo-{number}.png": Answer(photo(number), content_type="image/png") for number in (3, 4)},
        }
    )


@dataclass(frozen=True)
class Crawled:
    """A crawl of two hosts in two rounds, whose servers still run."""

    folder: Path
    sites: tuple[Site, Site]

    @property
    def output(self) -> Path:
        return self.folder / "output"

    @property
    def person(self) -> str:
        return f"{self.sites[0].url}person"

    @property
    def host(self) -> str:
        """The name of the second host."""
        return self.sites[1].url.split("/")[2]

    def crawl(self, **arguments: str) -> Crawl:
        given = {
            "seeds": f"{self.sites[0].url} {self.sites[0].url}away",
            "name": NAME,
            "topic": "bees hives honey",
            "images": "yes",
            "max_depth": "3",
        }
        return crawl(self.folder, given | arguments, SETTINGS)

    def state(self, *words: str, status: int = 0) -> str:
        line = [sys.executable, "-m", "scrapy", "state", NAME, *words]
        done = subprocess.run(
            line, cwd=self.folder, env=environment(), capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    def files_with(self, *texts: str) -> list[str]:
        """The files of the output folder that contain one of these texts."""
        files = [path for path in sorted(self.output.rglob("*")) if path.is_file()]
        return [path.name for path in files if any(text.encode() in path.read_bytes() for text in texts)]

    def delete_responses(self) -> None:
        """Delete the responses of the pages that are left, which may have links to what was erased."""
        with closing(sqlite3.connect(self.output / "crawl.db", isolation_level=None)) as file:
            file.execute("DELETE FROM stored_response")
            file.execute("VACUUM")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def lines(self, kind: str = "") -> list[dict[str, object]]:
        path = self.output / f"{NAME}{kind}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def image(self, number: int) -> Path:
        name = hashlib.blake2b(photo(number), digest_size=16).hexdigest()
        return self.output / "images" / name[:2] / f"{name}.png"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("erasure")
    with serving(other_web(), HOSTS[1]) as second, serving(web(second.url), HOSTS[0]) as first:
        crawled = Crawled(folder, (first, second))
        for refresh in ("due", "all"):
            ended = crawled.crawl(refresh=refresh)
            assert ended.status == 0, ended.err
        yield crawled


@pytest.fixture
def crawled(original: Crawled, tmp_path: Path) -> Crawled:
    """A copy of the crawl of its own."""
    shutil.copytree(original.folder, tmp_path / "copy")
    return Crawled(tmp_path / "copy", original.sites)


def test_nothing_is_left_of_a_page(crawled: Crawled) -> None:
    texts = SECRET, EARLIER, "Quennell", "quennell", crawled.person
    assert crawled.files_with(*texts) == [f"{NAME}.images.jsonl", f"{NAME}.jsonl", "crawl.db"]
    before = {change.page_id: change for change in changes(folder=crawled.output)}
    last = list(before.values())[-1].offset
    others = [line for line in crawled.lines() if line["url"] != crawled.person]

    crawled.state("--forget", f"{crawled.person}#top")
    assert crawled.files_with(*texts) == []
    assert not crawled.image(1).exists()
    assert crawled.image(2).exists()
    left = [line["url"] for line in crawled.lines()]
    assert left == [line["url"] for line in others]
    assert page_id(crawled.person) in before
    told = list(changes(folder=crawled.output, after=last))
    assert [(change.kind, change.page_id, change.url) for change in told] == [
        (ChangeKind.ERASED, page_id(crawled.person), "")
    ]

    # The next round requests every page but this one, and the crawl goes on in the same file.
    site = crawled.sites[0]
    asked = len(site.asked)
    ended = crawled.crawl(refresh="all")
    assert ended.status == 0, ended.err
    assert {"/", "/linking", "/short", "/left"} <= set(site.paths()[asked:])
    assert "/person" not in site.paths()[asked:]
    assert [line["url"] for line in crawled.lines()][: len(left)] == left
    assert not list(crawled.output.glob("*previous*"))
    assert crawled.files_with(*texts) == []
    # A page that is still there shows the image, too.
    assert crawled.image(1).exists()

    # It stays erased when the crawl is begun anew; a second call has nothing to erase, and says so by its status.
    asked = len(site.asked)
    ended = crawled.crawl(fresh="yes")
    assert ended.status == 0, ended.err
    assert "/linking" in site.paths()[asked:]
    assert "/person" not in site.paths()[asked:]
    crawled.state("--forget", crawled.person, status=1)
    assert crawled.files_with(*texts) == []


def test_nothing_is_left_of_a_host(crawled: Crawled) -> None:
    site, other = crawled.sites
    assert len(crawled.files_with(crawled.host, WASPS[0])) >= 3
    crawled.state("--forget", crawled.host)
    crawled.delete_responses()
    assert crawled.files_with(crawled.host, WASPS[0]) == []
    assert (crawled.image(3).exists(), crawled.image(4).exists()) == (True, False)
    kinds = Counter(change.kind for change in changes(folder=crawled.output))
    assert kinds[ChangeKind.ERASED] == 3

    asked = len(site.asked)
    asked_other = len(other.asked)
    ended = crawled.crawl(refresh="all", seeds=f"{site.url} {site.url}away {other.url}")
    assert ended.status == 0, ended.err
    assert "/away" in site.paths()[asked:]
    assert other.paths()[asked_other:] == []
    assert ended.counts()["erased, and not to be requested again"] >= 1
    crawled.delete_responses()
    assert crawled.files_with(crawled.host, WASPS[0]) == []


def test_what_was_never_stored_is_barred_all_the_same(crawled: Crawled) -> None:
    site = crawled.sites[0]
    crawled.state("--forget", f"{site.url}new", "--forget", f"{site.url}short", status=1)
    site.routes["/new"] = html("New", SENTENCES, {})
    asked = len(site.asked)
    ended = crawled.crawl(refresh="all", seeds=f"{site.url} {site.url}new")
    del site.routes["/new"]
    assert ended.status == 0, ended.err
    assert {"/new", "/short"}.isdisjoint(site.paths()[asked:])
    assert crawled.files_with(f"{site.url}new", f"{site.url}short") == []
    assert "0 pages" not in crawled.state("--forget", f"{site.url}never", status=1)


def test_wrong_use(crawled: Crawled) -> None:
    for words in (["--forget", "ftp://example.org/"], ["--forget", "example.org/page"], ["--forget", ""]):
        crawled.state(*words, status=2)
    # A worker that holds its lock runs the crawl.
    lock = take_lock(crawled.output / f".{NAME}.lock")
    assert lock is not None
    crawled.state("--forget", crawled.person, status=2)
    lock.release()
    assert crawled.files_with(SECRET) == [f"{NAME}.jsonl", "crawl.db"]


@pytest.mark.parametrize("place", ["image", "commit", "replace", "vacuum"])
def test_a_second_call_completes_what_was_killed(crawled: Crawled, place: str) -> None:
    line = [sys.executable, "-c", KILLED_AT[place], crawled.person]
    done = subprocess.run(line, cwd=crawled.folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    if place == "replace":
        # Even a worker that starts before the second call completes the files.
        assert crawled.crawl().status == 0
        assert not list(crawled.output.glob("*previous*"))
        assert f"{NAME}.jsonl" not in crawled.files_with(SECRET)
    subprocess.run(
        [sys.executable, "-m", "scrapy", "state", NAME, "--forget", crawled.person],
        cwd=crawled.folder,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert crawled.files_with(SECRET, EARLIER, crawled.person) == []
    assert not crawled.image(1).exists() or place == "replace"
    assert not list(crawled.output.glob("*rewritten*"))
