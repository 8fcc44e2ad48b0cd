"""The view of judged images: what it shows, what it refuses, and what a mark does; hostile words stay words."""

import json
import os
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, BEYOND_TEXT, acting
from dashboard_client import data, get, post, text
from sqlalchemy import Engine, insert, select

from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.views.images import wilson
from crawler.contrib.dashboard.views.judged_images import MOST_BYTES
from crawler.noise.image_evidence import Sighting
from crawler.store.batch.images import label_key
from crawler.store.crawl_tables import site
from crawler.store.page_tables import LabelKind, label, verdict

PAGE = "http://a.example/"
GIF = b"GIF89a" + bytes((200, 0, 60, 0)) + bytes(20)
NAME = "ab/" + "ab" * 16 + ".gif"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    with engine.begin() as connection:
        connection.execute(insert(site).values(id=1, crawl_id=1, name="a.example"))
    return engine


def enter(engine: Engine, number: int = 1, **other: Any) -> None:
    """A verdict; of a kept image if nothing else is said."""
    row = {
        "id": number,
        "key": number,
        "crawl_id": 1,
        "site_id": 1,
        "kind": "image",
        "url": f"http://cdn.example/{number}.png",
        "target": "",
        "page": PAGE,
        "noise": False,
        "probability": 0.1,
        "reasons": "[]",
        "decided_by": "",
        "audited": False,
        "bytes_are_measured": False,
        "decided_at": "2026-11-22T00:00:00+00:00",
        "sight": sight(),
    }
    row |= other
    row["label_key"] = label_key("bees", LabelKind.IMAGE, str(row["url"]), str(row["page"]))
    with engine.begin() as connection:
        connection.execute(insert(verdict).values(row))


def sight(**other: Any) -> str:
    return Sighting("http://cdn.example/1.png", "", PAGE, **other).record()


# What is shown.


def test_there_are_two_lists(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, 1, sight=sight(alt="A bee", size=(320, 200)), file=NAME, bytes=2_000)
    reasons = [{"code": "unseen", "values": {"width": 1, "height": 1}}]
    enter(engine, 2, noise=True, probability=0.99, keyword=0.75, reasons=json.dumps(reasons))
    found = data(desk, "/api/images")
    (kept,), (skipped,) = found["kept"]["images"], found["skipped"]["images"]
    assert (kept["id"], kept["verdict"], kept["alt"], kept["width"], kept["bytes"]) == (
        1,
        "content",
        "A bee",
        320,
        2_000,
    )
    assert (skipped["verdict"], skipped["keyword"], skipped["reasons"]) == ("noise", 0.75, reasons)
    page = text(desk, "/images")
    assert '<img src="/images/1/image"' in page
    assert '<img src="/images/2/image"' not in page
    assert "1 x 1" in page


@pytest.mark.parametrize(
    ("query", "kept", "skipped"),
    [
        ({}, [3, 1], [4, 2]),
        ({"wall": "kept"}, [3, 1], None),
        ({"wall": "skipped"}, None, [4, 2]),
        ({"kind": "link"}, [3], [4]),
        ({"site": "A.example "}, [3, 1], [4, 2]),
        ({"site": "b.example"}, [], []),
        ({"by": "size"}, [], [2]),
        ({"only": "audited"}, [], [4]),
        ({"only": "marked"}, [], []),
        ({"kept_before": "3", "skipped_before": "2"}, [1], []),
    ],
)
def test_filters(
    desk: DashboardContext, engine: Engine, query: dict[str, str], kept: list[int] | None, skipped: list[int] | None
) -> None:
    enter(engine, 1)
    enter(engine, 2, noise=True, decided_by="size")
    enter(engine, 3, kind="link")
    enter(engine, 4, noise=True, decided_by="learned", kind="link", audited=True)
    found = data(desk, "/api/images", **query)
    for name, wanted in (("kept", kept), ("skipped", skipped)):
        assert (found[name] and [one["id"] for one in found[name]["images"]]) == wanted
    text(desk, "/images", **query)


@pytest.mark.parametrize(
    ("width", "height", "box"),
    [
        (320, 220, (160, 110)),
        (40, 30, (40, 30)),
        (9_000, 10, (160, 2)),
        (10, 9_000, (2, 110)),
        (1, 1, (2, 2)),
        (-1, 5, None),
        (5, -1, None),
    ],
)
def test_the_box_of_an_image(
    desk: DashboardContext, engine: Engine, width: int, height: int, box: tuple[int, int] | None
) -> None:
    enter(engine, 1, sight=sight(size=(width, height)))
    said = re.findall(r'<svg width="(\d+)" height="(\d+)" role="img"', text(desk, "/images"))
    assert said == ([tuple(map(str, box))] if box else [])


def test_a_share_lies_between_none_and_all() -> None:
    for of in range(1, 50):
        none, every = wilson(0, of), wilson(of, of)
        assert none.low == pytest.approx(0)
        assert every.high == pytest.approx(1)
        assert (none.low or 0.0) >= 0
        assert (every.high or 1.0) <= 1


def test_one_goes_on_to_older_ones(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, 31):
        enter(engine, number)
    first = data(desk, "/api/images")["kept"]
    rest = data(desk, "/api/images", kept_before=str(first["before"]))["kept"]
    assert [one["id"] for one in first["images"] + rest["images"]] == list(range(30, 0, -1))
    assert rest["before"] == 0
    assert f'href="/images?kept_before={first["before"]}#kept"' in text(desk, "/images")


@pytest.mark.parametrize("path", ["/images", "/api/images"])
def test_no_crawl_of_that_name(desk: DashboardContext, path: str) -> None:
    assert get(desk, path, crawl="<script>").status == HTTPStatus.NOT_FOUND


NO_SITE = {"site": {"id": None, "names": [], "is_cut": False}}


def test_no_image_was_judged(desk: DashboardContext) -> None:
    assert get(desk, "/images").status == HTTPStatus.OK
    assert data(desk, "/api/images") == {"crawl": "", "kept": None, "skipped": None, "doubtful": None} | NO_SITE
    assert get(desk, "/api/images/error-rate").status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("attack", [*ATTACKS, BEYOND_TEXT], ids=range(len(ATTACKS) + 1))
def test_words_of_the_web_are_words(desk: DashboardContext, engine: Engine, attack: str) -> None:
    stored = attack.replace("\ud800", "")
    written = json.dumps(["http://cdn.example/", attack, attack, attack, attack, attack, [640, 480], []])
    enter(
        engine,
        url=f"http://cdn.example/{stored}",
        target=stored,
        page=stored,
        sight=written,
        decided_by=stored,
        noise=True,
        reasons=json.dumps([{"code": "common_words", "values": {"words": [attack, attack]}}]),
        file=stored,
    )
    ways: list[dict[str, str]] = [{}, {"lang": "zh"}, {"wall": "doubtful"}]
    for page in (text(desk, "/images/1"), *(text(desk, "/images", **query) for query in ways)):
        assert acting(page) == []
        assert "49" not in re.findall(r"<bdi>(.*?)</bdi>", page)
        assert "\u202e" not in re.sub(r"<bdi>.*?</bdi>|alt=\".*?\"", "", page)
        assert "a" * 3_000 not in page
    assert get(desk, "/images/1/image").status == HTTPStatus.NOT_FOUND


def test_reasons_are_said_in_chinese(desk: DashboardContext, engine: Engine) -> None:
    reasons = [
        {"code": "shown_on_pages", "values": {"shown": 7, "pages": 39}},
        {"code": "keywords", "values": {"words": ["ads", "{0}"]}},
    ]
    enter(engine, noise=True, reasons=json.dumps(reasons))
    page = text(desk, "/images", lang="zh")
    assert "该站点的 39 个页面中有 7 个显示它" in page
    assert "描述中的词语常见于广告、导航或装饰：ads、{0}" in page


# The image itself.


def put(folder: Path, body: bytes, name: str = NAME) -> Path:
    path = folder / "images" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def test_a_downloaded_image_is_given_as_what_it_is(desk: DashboardContext, engine: Engine, tmp_path: Path) -> None:
    enter(engine, file=NAME.replace(".gif", ".png"))
    put(tmp_path, GIF, NAME.replace(".gif", ".png"))
    found = get(desk, "/images/1/image")
    assert (found.status, found.type, found.body) == (HTTPStatus.OK, "image/gif", GIF)
    headers = dict(found.headers)
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"].startswith("private")


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x00" * 99, GIF + bytes(MOST_BYTES)]
)
def test_what_is_no_image_is_not_given(desk: DashboardContext, engine: Engine, tmp_path: Path, body: bytes) -> None:
    enter(engine, file=NAME)
    put(tmp_path, body)
    assert get(desk, "/images/1/image").status == HTTPStatus.NOT_FOUND


def test_no_link_is_followed(desk: DashboardContext, engine: Engine, tmp_path: Path) -> None:
    enter(engine, file=NAME)
    path = put(tmp_path, GIF, "ab/secret.gif").parent / NAME[3:]
    path.symlink_to("secret.gif")
    assert get(desk, "/images/1/image").status == HTTPStatus.NOT_FOUND


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_nobody_waits_for_a_pipe(desk: DashboardContext, engine: Engine, tmp_path: Path) -> None:
    enter(engine, file=NAME)
    path = put(tmp_path, GIF)
    path.unlink()
    os.mkfifo(path)
    assert get(desk, "/images/1/image").status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("path", ["/images/7", "/images/7/image", "/api/images/7", "/images/1/mark"])
def test_there_is_no_such_image(desk: DashboardContext, engine: Engine, path: str) -> None:
    enter(engine)
    assert get(desk, path).status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)


# Marks, and how often verdicts are wrong.


def labels(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(label.c.url, label.c.value, label.c.detail))]


def test_a_mark_is_kept_changed_and_forgotten(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, sight=sight())
    found = post(desk, "/images/1/mark", value="noise")
    assert (found.status, dict(found.headers)["Location"]) == (HTTPStatus.SEE_OTHER, "/images/1")
    assert labels(engine) == [("http://cdn.example/1.png", "noise", sight())]
    assert (data(desk, "/api/images/1")["label"], "labelled as noise" in text(desk, "/images/1")) == ("noise", True)
    with engine.connect() as connection:
        assert connection.execute(select(label.c.said_at)).scalar_one() > 1_700_000_000
    post(desk, "/images/1/mark", value="content")
    assert labels(engine) == [("http://cdn.example/1.png", "content", sight())]
    post(desk, "/images/1/mark", value="none")
    assert labels(engine) == []
    assert 'data-label="none"' in text(desk, "/images/1")
    assert [one["action"] for one in data(desk, "/api/edits")["edits"]] == ["label_removed", "content", "noise"]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({}, HTTPStatus.BAD_REQUEST),
        ({"value": "ham"}, HTTPStatus.BAD_REQUEST),
        ({"value": "noise", "token": "x"}, HTTPStatus.FORBIDDEN),
    ],
)
def test_no_mark(desk: DashboardContext, engine: Engine, form: dict[str, str], status: int) -> None:
    enter(engine)
    assert post(desk, "/images/1/mark", **form).status == status
    assert labels(engine) == []


def test_a_mark_that_differs_from_the_verdict_is_seen(desk: DashboardContext, engine: Engine) -> None:
    for number, is_noise in ((1, False), (2, True)):
        url = f"http://cdn.example/{number}.png?utm_source=feed"
        enter(engine, number, url=url, noise=is_noise)
        post(desk, f"/images/{number}/mark", value="noise")
    found = data(desk, "/api/images", only="disputed")
    assert [one["id"] for one in found["kept"]["images"] + found["skipped"]["images"]] == [1]
    assert text(desk, "/images", only="disputed").count("image disputed") == 1
    rate = data(desk, "/api/images/error-rate")
    assert ((rate["kept"]["wrong"], rate["kept"]["of"]), (rate["skipped"]["wrong"], rate["skipped"]["of"])) == (
        (1, 1),
        (0, 1),
    )


def test_the_audit_tells_how_often_noise_looks_like_content(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, 12):
        looks = {1: True, 2: True, 11: None}.get(number, False)
        enter(engine, number, noise=True, audited=True, mistaken=looks)
    (audit,) = data(desk, "/api/images/error-rate")["audit"]
    assert (audit["chosen"], audit["mistaken"]["wrong"], audit["mistaken"]["of"]) == (11, 2, 10)
    page = text(desk, "/images")
    assert re.search(r"\b2 of 10\b.* 11 ", page)
    assert "20.0%" in page
    assert "5.7%–51.0%" in page


def test_wilsons_interval() -> None:
    rows = [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0), (5, 100, 0.0215, 0.1118)]
    for wrong, of, low, high in rows:
        found = wilson(wrong, of)
        assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
