"""What a crawl keeps of what came over the network, and the WARC file of it after a second round."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import fork_server
import pytest
from sites import COUNTED, Answer, Asked, Site, crawl, environment, page, serving
from warcio.archiveiterator import ArchiveIterator

from crawler.frontier.page_result import raw_digest

DANCE = "Bees dance in the dark of the hive, and the others follow the dancer with their feelers to learn the way. "
HONEY = "Honey is made of nectar, which the foragers carry home and the house bees fan until it is thick and keeps. "
DUE = COUNTED | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
"""Every page is due at once."""
ROBOTS = "User-agent: *\nDisallow: /private/\n"


def tagged(asked: Asked) -> Answer:
    """A page that is not sent again to who has it."""
    if asked.headers.get("If-None-Match") == '"1"':
        return Answer(status=304)
    return Answer(page(HONEY * 3), headers={"ETag": '"1"'})


def site() -> Site:
    links = {f"/{name}": f"a page on {name}" for name in ("tagged", "same", "footer", "changed")}
    front = page("A garden of bees, in which there is much to read on them.", links=links)
    home = Answer(front, headers={"Set-Cookie": "token=secret"})
    articles = {f"/{name}": page(f"{DANCE * 3} On {name}.") for name in ("same", "footer", "changed")}
    robots = Answer(ROBOTS, content_type="text/plain")
    return Site({"/": home, "/tagged": tagged, "/robots.txt": robots, **articles})


def export(folder: Path, *words: str) -> None:
    run = fork_server.run(["scrapy", "export", *words], folder, environment(), 60)
    assert run.returncode == 0, run.stderr


def kinds(path: Path, url: str) -> dict[str, set[Any]]:
    """What a WARC file has, by type of record: paths of the addresses."""
    found: dict[str, set[Any]] = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            target = (record.rec_headers.get_header("WARC-Target-URI") or "").removeprefix(url)
            profile = (record.rec_headers.get_header("WARC-Profile") or "").rpartition("/")[2]
            found.setdefault(record.rec_type, set()).add((target, profile) if profile else target)
            record.content_stream().read()
    return found


def test_two_rounds_and_what_is_exported_of_them(tmp_path: Path) -> None:
    given = {"topic": "bees", "name": "bees", "images": "no"}
    sent = {"Accept": "text/html", "Cookie": "token=secret", "Authorization": "Basic secret"}
    settings = DUE | {"DEFAULT_REQUEST_HEADERS": json.dumps(sent)}
    with serving(site()) as garden:
        assert crawl(tmp_path, {**given, "seeds": garden.url}, settings).status == 0
        assert garden.asked[-1].headers["Authorization"] == "Basic secret"
        bodies = {path: str(body) for path, body in garden.routes.items()}
        garden.routes["/changed"] = page(f"{HONEY * 3} On changes.")
        garden.routes["/footer"] = bodies["/footer"].replace("</nav>", "</nav><footer><p>2027</p></footer>")
        second = crawl(tmp_path, {**given, "seeds": garden.url}, settings)
    counts = second.statistics()
    assert [counts[f"recrawl/{kind}"] for kind in ("changed", "unchanged", "not_modified")] == [1, 4, 1]
    export(tmp_path, "-o", "bees.warc.gz")
    found = kinds(tmp_path / "bees.warc.gz", garden.url)
    pages = {"", "tagged", "same", "footer", "changed"}
    assert {kind: found[kind] for kind in ("request", "response", "conversion")} == dict.fromkeys(
        ("request", "response", "conversion"), pages
    )
    assert found["resource"] == {"robots.txt"}
    again = {(path, "identical-payload-digest") for path in ("", "same")}
    assert found["revisit"] == {*again, ("tagged", "server-not-modified")}
    lines = {one["url"].removeprefix(garden.url): one for one in second.items("bees")}  # the last line of each page
    assert lines["footer"]["raw_digest"] == raw_digest(bodies["/footer"].encode())
    assert lines["changed"]["raw_digest"] == raw_digest(str(garden.routes["/changed"]).encode())
    assert {(one["crawl"], one["extractor_version"].partition(":")[2]) for one in lines.values()} == {("bees", "auto")}
    with (tmp_path / "bees.warc.gz").open("rb") as file:
        archived = {
            record.rec_headers.get_header("WARC-Record-ID"): record.rec_headers.get_header("WARC-Payload-Digest")
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }
    assert archived == {one["warc_record_id"]: one["raw_digest"] for one in lines.values()}
    database = (tmp_path / "output" / "crawl.db").read_bytes()
    assert b"Accept-Encoding" in database
    assert b"secret" not in database


@pytest.mark.parametrize(("limit", "stored", "said"), [("0", 0, None), ("1", 1, 4)])
def test_responses_are_stored_as_long_as_there_is_room(
    tmp_path: Path, limit: str, stored: int, said: int | None
) -> None:
    with serving(site()) as garden:
        ended = crawl(
            tmp_path, {"seeds": garden.url, "topic": "bees", "images": "no"}, COUNTED | {"KEEP_RESPONSES": limit}
        )
    assert ended.status == 0
    kept = [one["warc_record_id"] for one in ended.items() if one["warc_record_id"]]
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as connection:
        assert connection.execute("SELECT count(*) FROM stored_response").fetchone() == (stored,)
    assert len(kept) == stored
    assert len(ended.items()) == 5
    assert ended.outcomes() == ({} if said is None else {f"response_limit/{limit}": said})
