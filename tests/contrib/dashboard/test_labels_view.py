"""The view of labels: what is to be marked, what a mark keeps, what is refused; hostile words stay words."""

import json
import re
from http import HTTPStatus
from typing import Any

import pytest
from attacks import ATTACKS, acting
from dashboard_client import data, get, post, text
from sqlalchemy import Engine, delete, insert, select, update

from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.lab.views import labels
from crawler.contrib.lab.views.label_sheet import MANY_CHARACTERS, MOST_BLOCKS, MOST_SOURCE_BYTES
from crawler.contrib.lab.views.labels import MOST_LABELS, MOST_PAGES
from crawler.store.batch.responses import COMPRESSION_LEVEL, zstd
from crawler.store.crawl_tables import crawl
from crawler.store.labels import Label, put_label
from crawler.store.page_tables import LabelKind, label, page, stored_response

URL_1 = "http://a.example/1"
PLACES = ("Home", "Bees", "Bees dance in the dark.", "Bees", "More links")
SOURCE = (
    b"<title>Bees</title><ul><li><a href=/>Home</a></ul><h1>Bees</h1><p>Bees dance in the dark.<p>Bees"
    b"<p><a href=/x>More links</a>"
)


def enter(engine: Engine, number: int = 1, source: bytes | None = SOURCE, **other: Any) -> None:
    """A page, with the response it came in if there is one."""
    url = f"http://a.example/{number}"
    row = {"id": number, "key": number, "crawl_id": 1, "crawl": "bees", "url": url, "requested_url": url}
    row |= {"title": "Bees", "text": ""}
    row |= {"fetched_at": "2026-11-22T00:00:00+00:00", "status": 200, "depth": 0, "relevance": 1.0, "images": "[]"}
    row |= {"extractor": "auto", "language": "en", "certainty": number / 10}
    with engine.begin() as connection:
        connection.execute(insert(page).values(row | other))
    if source is not None:
        keep(engine, source, number)


def keep(engine: Engine, source: bytes, number: int = 1) -> None:
    """The response of a page, in place of the one before."""
    headers = '[["Content-Type", "text/html; charset=utf-8"]]'
    row = {"key": number, "crawl_id": 1, "fetched_at": "2026-11-22T00:00:00+00:00", "status_line": "HTTP/1.1 200 OK"}
    with engine.begin() as connection:
        connection.execute(delete(stored_response).where(stored_response.c.key == number))
        connection.execute(
            insert(stored_response).values(row | {"headers": headers, "body": zstd.compress(source, COMPRESSION_LEVEL)})
        )


def chosen(desk: DashboardContext, *places: int | str, number: int = 1) -> dict[str, str]:
    """The form in which these blocks are chosen."""
    sheet = data(desk, f"/api/labels/pages/{number}")
    return {"fingerprint": sheet["fingerprint"]} | {f"block-{place}": "on" for place in places}


def stored(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(select(label.c.url, label.c.value, label.c.detail)))


# What is to be marked.


def test_the_least_certain_pages_are_offered(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, 2)
    enter(engine, 1)
    enter(engine, 3, source=None)
    enter(engine, 4, certainty=None)
    found = data(desk, "/api/labels/queue")
    assert ([one["id"] for one in found["pages"]], found["after"]) == ([1, 2, 4], 0)
    shown = text(desk, "/labels")
    assert re.findall(r'data-item href="/labels/pages/(\d)"', shown) == ["1", "2", "4"]
    assert "10% confidence" in shown
    assert "confidence unknown" in shown


def test_what_is_said_where_nothing_can_be_marked(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, source=None)
    assert "-s KEEP_RESPONSES=500000000" in text(desk, "/labels")
    assert get(desk, "/labels/pages/1").status == HTTPStatus.NOT_FOUND
    enter(engine, 2)
    post(desk, "/labels/pages/2", **chosen(desk, number=2))
    assert "data-item" not in text(desk, "/labels")
    with engine.begin() as connection:
        for table in (stored_response, page, crawl):
            connection.execute(delete(table))
    assert "KEEP_RESPONSES" not in text(desk, "/labels")


def test_one_goes_on_to_more(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, MOST_PAGES + 2):
        enter(engine, number)
    assert f'href="/labels?crawl=bees&amp;after={MOST_PAGES}"' in text(desk, "/labels")
    assert [one["id"] for one in data(desk, "/api/labels/queue", after=str(MOST_PAGES))["pages"]] == [MOST_PAGES + 1]
    assert "data-item" not in text(desk, "/labels", after=str(MOST_PAGES + 1))


def test_the_blocks_of_a_page(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    found = data(desk, "/api/labels/pages/1")
    assert [line["text"] for line in found["lines"]] == list(PLACES)
    assert [line["heading"] for line in found["lines"]] == [False, True, False, False, False]
    assert [line["links"] for line in found["lines"]] == [True, False, False, False, True]
    assert [line["repeated"] for line in found["lines"]] == [False, True, False, True, False]
    assert [line["kept"] for line in found["lines"]] == [line["found"] for line in found["lines"]]
    assert text(desk, "/labels/pages/1").count('type="checkbox"') == len(PLACES)


def test_long_blocks_are_cut_where_they_are_shown_alone(desk: DashboardContext, engine: Engine) -> None:
    count = MANY_CHARACTERS // 1_500
    blocks = *["a" * 1_501] * count, "b" * 300
    enter(engine, source="<p>".join(("", *blocks)).encode())
    lines = data(desk, "/api/labels/pages/1")["lines"]
    assert [(len(line["text"]), line["more"]) for line in lines] == [*[(1_500, 1)] * count, (200, 100)]
    assert "100 letters more" in text(desk, "/labels/pages/1")
    post(desk, "/labels/pages/1", **chosen(desk, 0, count))
    assert stored(engine)[0].value == f"{blocks[0]}\n{blocks[-1]}"


# Marks.


def test_a_mark_is_kept_and_the_next_page_comes(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, 1)
    enter(engine, 2)
    saved = post(desk, "/labels/pages/1", **chosen(desk, 1, 2))
    assert (saved.status, dict(saved.headers)["Location"]) == (HTTPStatus.SEE_OTHER, "/labels/pages/2")
    ((url, value, detail),) = stored(engine)
    assert (url, value) == (URL_1, "\n".join(PLACES[1:3]))
    told = json.loads(detail)
    assert (told["blocks"], told["of"], told["language"]) == ([1, 2], len(PLACES), "en")
    assert told["content_type"] == "text/html; charset=utf-8"
    found = data(desk, "/api/labels/pages/1")
    assert ([line["place"] for line in found["lines"] if line["kept"]], found["marked"]) == ([1, 2], True)
    assert data(desk, "/api/labels")["counts"]["texts"] == 1
    assert [one["id"] for one in data(desk, "/api/labels/queue")["pages"]] == [2]
    last = post(desk, "/labels/pages/2", **chosen(desk, number=2))
    assert dict(last.headers)["Location"] == "/labels?crawl=bees&after=0"


def test_the_newest_mark_of_a_page_counts(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    post(desk, "/labels/pages/1", **chosen(desk, 1, 2))
    post(desk, "/labels/pages/1", **chosen(desk, 4))
    assert [row.value for row in stored(engine)] == ["More links"]
    post(desk, "/labels/pages/1", **chosen(desk, 4), nothing="yes")
    assert [row.value for row in stored(engine)] == [""]
    assert "no main text" in text(desk, "/labels")
    anew = data(desk, "/api/labels/pages/1", anew="yes")["lines"]
    assert [line["kept"] for line in anew] == [line["found"] for line in anew]


def test_a_mark_is_taken_back(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    post(desk, "/labels/pages/1", **chosen(desk, 2))
    (one,) = data(desk, "/api/labels")["labels"]
    assert (one["kind"], one["url"], one["number"]) == ("text", URL_1, 1)
    assert f'action="/labels/{one["id"]}/remove"' in text(desk, "/labels")
    found = post(desk, f"/labels/{one['id']}/remove")
    assert (found.status, dict(found.headers)["Location"]) == (HTTPStatus.SEE_OTHER, "/labels/list?crawl=bees")
    assert stored(engine) == []
    assert "Nothing is labelled yet" in text(desk, "/labels/list")
    assert [one["action"] for one in data(desk, "/api/edits")["edits"]] == ["label_removed", "text_labelled"]
    assert post(desk, f"/labels/{one['id']}/remove").status == HTTPStatus.NOT_FOUND


def test_a_mark_of_another_source_is_said_and_not_shown(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    post(desk, "/labels/pages/1", **chosen(desk, 4))
    keep(engine, SOURCE + b"<p>More.")
    found = data(desk, "/api/labels/pages/1")
    assert (found["marked"], found["outdated"], found["lines"][4]["kept"]) == (False, True, found["lines"][4]["found"])


def test_older_marks_are_on_further_pages(desk: DashboardContext, engine: Engine) -> None:
    count = 2 * MOST_LABELS + 1
    for number in range(count):
        kind, value = ((LabelKind.IMAGE, "noise"), (LabelKind.TEXT, "Bees."))[number % 2]
        put_label(
            engine, Label(kind, "bees", f"http://a.example/{number}", "http://a.example/", value, '{"number": 0}')
        )
    seen, before = [], 0
    for _ in range(3):
        part = data(desk, "/api/labels", before=str(before))
        seen += [int(one["url"].rpartition("/")[2]) for one in part["labels"]]
        before = part["before"]
    assert (seen, before) == ([*reversed(range(count))], 0)
    assert f"before={MOST_LABELS + 2}" in text(desk, "/labels/list")


def test_the_preview_keeps_nothing(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    found = post(desk, "/labels/pages/1/preview", **chosen(desk, 0, 4))
    assert found.status == HTTPStatus.OK
    assert '<pre id="preview" dir="auto"><bdi>- Home\nMore links</bdi></pre>' in found.body.decode()
    assert stored(engine) == []


@pytest.mark.parametrize(("letters", "unshown"), [(300_000, 0), (300_001, 1)])
def test_of_a_very_long_text_the_beginning_is_shown(
    desk: DashboardContext, engine: Engine, letters: int, unshown: int
) -> None:
    enter(engine, source=f"<body><p>{'b' * letters}</p></body>".encode())
    found = post(desk, "/labels/pages/1/preview", **chosen(desk, 0)).body.decode()
    assert found.count("b" * 300_000) == 1
    assert "b" * 300_001 not in found
    assert bool(re.search(rf"300,000 characters; {unshown} more", found)) is (unshown > 0)


def test_skipping_leads_on(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, 1)
    enter(engine, 2)
    assert dict(get(desk, "/labels/pages/1/skip").headers)["Location"] == "/labels/pages/2"
    assert dict(get(desk, "/labels/pages/2/skip").headers)["Location"] == "/labels?crawl=bees&after=0"


# What is refused.


@pytest.mark.parametrize("path", ["/labels/pages/1", "/labels/pages/1/preview"])
@pytest.mark.parametrize(
    ("form", "status"),
    [
        *(({f"block-{place}": "on"}, HTTPStatus.BAD_REQUEST) for place in ("5", "-1", "", "x", "1.0", "²", "9" * 9)),
        ({"fingerprint": "0" * 16}, HTTPStatus.CONFLICT),
        ({"fingerprint": ""}, HTTPStatus.CONFLICT),
        ({"token": "x"}, HTTPStatus.FORBIDDEN),
    ],
)
def test_wrong_forms(
    desk: DashboardContext, engine: Engine, path: str, form: dict[str, str], status: HTTPStatus
) -> None:
    enter(engine)
    assert post(desk, path, **chosen(desk, 1) | form).status == status
    assert stored(engine) == []


def test_a_page_that_was_fetched_again_since(desk: DashboardContext, engine: Engine) -> None:
    enter(engine)
    form = chosen(desk, 1)
    keep(engine, SOURCE + b"<p>More.")
    assert post(desk, "/labels/pages/1", **form).status == HTTPStatus.CONFLICT
    with engine.begin() as connection:
        connection.execute(delete(stored_response))
    assert post(desk, "/labels/pages/1", **form).status == HTTPStatus.NOT_FOUND
    assert stored(engine) == []


@pytest.mark.parametrize(
    ("source", "status"),
    [
        (b"<p>x" * MOST_BLOCKS, HTTPStatus.OK),
        (b"<p>x" * (MOST_BLOCKS + 1), HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        (SOURCE.ljust(MOST_SOURCE_BYTES), HTTPStatus.OK),
        (SOURCE.ljust(MOST_SOURCE_BYTES + 1), HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    ],
    ids=["blocks", "a block more", "bytes", "a byte more"],
)
def test_too_large_a_page(desk: DashboardContext, engine: Engine, source: bytes, status: HTTPStatus) -> None:
    enter(engine, source=source)
    assert get(desk, "/api/labels/pages/1").status == status


@pytest.mark.parametrize("path", ["/labels", "/api/labels/queue"])
def test_no_such_crawl(desk: DashboardContext, path: str) -> None:
    assert get(desk, path, crawl="<script>").status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("path", ["/labels/pages/7", "/api/labels/pages/7", "/labels/pages/7/skip"])
def test_no_such_page(desk: DashboardContext, engine: Engine, path: str) -> None:
    enter(engine)
    assert get(desk, path).status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("attack", ATTACKS)
def test_words_of_the_web_are_words(desk: DashboardContext, engine: Engine, attack: str) -> None:
    written = attack.replace("&", "&amp;").replace("<", "&lt;")
    source = f"<meta charset=utf-8><h1>{written}</h1><p>{written}".encode()
    enter(engine, url=attack, title=attack, source=source, language=attack, extractor=attack)
    pages = [text(desk, "/labels"), text(desk, "/labels/pages/1"), text(desk, "/labels", lang="zh")]
    form = chosen(desk, 0, 1)
    pages.append(post(desk, "/labels/pages/1/preview", **form).body.decode())
    post(desk, "/labels/pages/1", **form)
    put_label(engine, Label(LabelKind.IMAGE, "bees", attack, attack, "noise"))
    pages += [text(desk, "/labels"), text(desk, "/labels/list"), text(desk, "/labels/pages/1")]
    for shown in pages:
        assert acting(shown) == []
        assert "49" not in re.findall(r"<bdi>(.*?)</bdi>", shown)
        assert "\u202e" not in re.sub(r"(?s)<bdi>.*?</bdi>", "", shown)


# The gold file.


def test_the_gold_file(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, 1)
    enter(engine, 2, source="<meta charset=gb2312><p>蜜蜂在跳舞。".encode("gb2312"))
    with engine.begin() as connection:
        connection.execute(update(stored_response).where(stored_response.c.key == 2).values(headers="[]"))
    for number, place in ((1, 2), (2, 0)):
        post(desk, f"/labels/pages/{number}", **chosen(desk, place, number=number))
    found = get(desk, "/labels/gold.jsonl", crawl="bees")
    assert (found.status, found.type) == (HTTPStatus.OK, "application/x-ndjson")
    assert dict(found.headers)["Content-Disposition"] == 'attachment; filename="gold.jsonl"'
    first, second = map(json.loads, found.body.splitlines())
    assert (first["url"], first["lang"], first["gold"]) == (URL_1, "en", PLACES[2])
    assert first["html"] == SOURCE.decode()
    assert second["gold"] == "蜜蜂在跳舞。"
    assert second["html"].endswith("<p>蜜蜂在跳舞。")
    assert get(desk, "/labels/gold.jsonl", crawl="wasps").body == b""


@pytest.mark.parametrize(("less", "status"), [(0, HTTPStatus.OK), (1, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)])
def test_a_gold_file_that_is_too_large(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch, less: int, status: HTTPStatus
) -> None:
    enter(engine)
    post(desk, "/labels/pages/1", **chosen(desk, 2))
    size = len(get(desk, "/labels/gold.jsonl").body)
    monkeypatch.setattr(labels, "MOST_BYTES", size - less)
    found = get(desk, "/labels/gold.jsonl")
    assert found.status == status
    assert (b"winnow export --labels" in found.body) is bool(less)


# What is said of a page beside its text.


def test_title_author_and_date_are_corrected(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, source=SOURCE.replace(b"</h1>", b"</h1><p class=byline>By Ann Lee</p>"))
    values = data(desk, "/api/labels/pages/1")["values"]
    assert (values["title"], set(values)) == ("Bees", {"title", "author", "published"})
    form = {**chosen(desk, 3), "title": " Be\x00es\u202e ", "author": "Bo Ray", "published": "2024-05-06"}
    assert post(desk, "/labels/pages/1", **form).status == HTTPStatus.SEE_OTHER
    assert json.loads(stored(engine)[0].detail) | {"title": "Bees", "author": "Bo Ray"} == json.loads(
        stored(engine)[0].detail
    )
    assert data(desk, "/api/labels/pages/1")["values"] == {
        "title": "Bees",
        "author": "Bo Ray",
        "published": "2024-05-06",
    }
    assert data(desk, "/api/labels/pages/1", anew="yes")["values"] == values
    row = json.loads(get(desk, "/labels/gold.jsonl").body)
    assert (row["title"], row["author"], row["published"]) == ("Bees", "Bo Ray", "2024-05-06")


@pytest.mark.parametrize("day", ["6 May 2024", "2024-5-6", "2024-05-06T10:00", "2024-02-31", "9999-12-31"])
def test_a_date_that_is_none(desk: DashboardContext, engine: Engine, day: str) -> None:
    enter(engine)
    assert post(desk, "/labels/pages/1", **chosen(desk, 2), published=day).status == HTTPStatus.BAD_REQUEST
    assert stored(engine) == []
