"""The view of the reports: figures on both databases, files known by what is in them, hostile words that stay words."""

import json
import os
import re
import time
from datetime import date
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS, acting
from dashboard_client import Request, answer, get, text
from scrapy.settings import Settings
from sqlalchemy import Engine, insert, update
from sqlalchemy.engine import URL

from crawler import settings as our_settings
from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.lab.evaluation.baseline import record
from crawler.contrib.lab.evaluation.image_metrics import record as noise_record
from crawler.contrib.lab.evaluation.report import report
from crawler.contrib.lab.focus_report import html_report as focus_report
from crawler.contrib.lab.views import evaluate
from crawler.contrib.lab.views import evaluate as module
from crawler.contrib.lab.views.evaluate import EXTRACTION_FIGURES, FOCUS, NOISE_FIGURES, report_files
from crawler.reports.report_noise import noise_figures, noise_figures_of
from crawler.store.crawl_tables import crawl, site
from crawler.store.page_tables import page, verdict
from crawler.translation.message import catalogue_of, languages

PATIENCE = 20.0  # seconds
DAY = date(2026, 11, 22)


BOTH = pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """A database with a crawl and no page, of SQLite where a test does not name its kind."""
    engine: Engine = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_engine")
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
        connection.execute(insert(site).values(id=1, crawl_id=1, name="a.example"))
    return engine


def store(engine: Engine, number: int, relevance: float, **other: Any) -> None:
    """A stored page."""
    url = f"http://a.example/{number}"
    wanted = [column for column in page.columns if not column.nullable]
    row: dict[str, Any] = {one.name: "" if one.type.python_type is str else 0 for one in wanted}
    row |= {"id": number, "crawl_id": 1, "key": number, "url": url, "requested_url": url, "relevance": relevance}
    row |= {"status": 200, "depth": 0, "link_score": relevance, "via": "link", "changes": 0, "checks": 0}
    with engine.begin() as connection:
        connection.execute(insert(page).values(row | other))


def judge(engine: Engine, number: int, **other: Any) -> None:
    """A verdict; of a kept image of 1,000 bytes if nothing else is said."""
    row = {
        "id": number,
        "key": number,
        "crawl_id": 1,
        "site_id": 1,
        "kind": "image",
        "url": f"http://a.example/{number}",
    }
    row |= {"target": "", "page": "http://a.example/", "noise": False, "probability": 0.1, "reasons": "[]"}
    row |= {
        "decided_by": "",
        "audited": False,
        "bytes": 1_000,
        "bytes_are_measured": True,
        "decided_at": "2026-11-22",
        "sight": "",
    }
    with engine.begin() as connection:
        connection.execute(insert(verdict).values(row | other))


def skip(engine: Engine, number: int, **other: Any) -> None:
    judge(engine, number, **{"noise": True, "bytes": None, "bytes_are_measured": False, "decided_by": "size"} | other)


def data(desk: DashboardContext, path: str, **query: str) -> Any:
    """What an address says once it is computed."""
    until = time.monotonic() + PATIENCE
    while True:
        found = json.loads(get(desk, path, **query).body)
        if "computed" not in found or not found["computed"]["is_busy"] or time.monotonic() > until:
            return found
        time.sleep(0.02)


def shown(desk: DashboardContext, **query: str) -> str:
    return text(desk, "/evaluate", **query)


def make(path: Path, kind: str) -> None:
    """A file as the command writes it whose report it is."""
    texts = {
        FOCUS: lambda: focus_report((), 0.5, "1.0", DAY, catalogue_of("en")),
        "extraction": lambda: report((), (), "1.0", DAY),
        EXTRACTION_FIGURES: lambda: record((), "1.0"),
        NOISE_FIGURES: lambda: noise_record((), {"given": 3, "not found": 0}),
    }
    path.write_text(texts[kind](), encoding="utf-8")


# The focus report.


@BOTH
def test_how_well_a_crawl_kept_to_its_topic(desk: DashboardContext, engine: Engine) -> None:
    for number, relevance in enumerate((0.9, 0.5, 0.49, 0.1), 1):
        store(engine, number, relevance)
    found = data(desk, "/api/evaluate/focus")
    report = found["report"]
    figures = report["figures"]
    assert (found["crawl"], found["computed"]["error"], found["computed"]["is_busy"]) == ("bees", None, False)
    assert [figures["total"][name] for name in ("pages", "on_topic", "harvest")] == [4, 2, 0.5]
    assert (figures["ranking"], report["waiting"]) == (1.0, {"total": 0, "promising": 0, "unlikely": 0})
    assert [one["name"] for one in figures["ways"]] == ["link"]
    assert (figures["sites"][0]["name"], figures["sites"][0]["harvest"]) == ("a.example", 0.5)
    assert figures["course"][-1] == {"pages": 4, "lately": 0.5, "harvest": 0.5, "on_topic": 2, "found": 0}
    said = shown(desk)
    assert "<dd>50%</dd>" in said
    assert '<iframe class="report" sandbox="" src="/evaluate/focus/1"' in said
    assert "data-live" not in said


def test_the_whole_report_is_a_document_in_which_nothing_acts(desk: DashboardContext, engine: Engine) -> None:
    for number, attack in enumerate(ATTACKS, 1):
        store(engine, number, 0.9, title=attack, via=attack[:100], url=f"http://a.example/{attack[:100]}")
    data(desk, "/api/evaluate/focus")
    found = get(desk, "/evaluate/focus/1")
    assert found.status == HTTPStatus.OK
    policy = dict(found.headers)["Content-Security-Policy"]
    assert {"default-src 'none'", "sandbox", "frame-ancestors 'self'"} <= set(policy.split("; "))
    assert "script" not in policy
    body = found.body.decode()
    assert "&lt;script&gt;alert(1)" in body
    assert not [one for one in ("<script", "<img", '"onmouseover', "\x1b") if one in body]


def test_the_whole_report_is_in_the_language_of_its_page(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, 0.9)
    data(desk, "/api/evaluate/focus")
    english, chinese = "How well it kept to the topic", "切题程度"
    rows: list[tuple[dict[str, str], dict[str, str], str, str]] = [
        ({}, {}, "en", english),
        ({"accept-language": "zh-CN"}, {}, "zh", chinese),
        ({"cookie": "lang=zh"}, {}, "zh", chinese),
        ({"cookie": "lang=zh"}, {"lang": "en"}, "en", english),
    ]
    for headers, query, language, title in rows:
        request = Request("GET", "/evaluate/focus/1", query, headers={"host": "localhost"} | headers)
        body = answer(desk, request).body.decode()
        assert f'<html lang="{language}">' in body
        assert f"<h1>{title}</h1>" in body


@pytest.mark.parametrize("attack", ATTACKS)
def test_names_of_sites_models_and_crawls_are_words(desk: DashboardContext, engine: Engine, attack: str) -> None:
    name = attack[:200]
    with engine.begin() as connection:
        connection.execute(update(site).values(name=name))
        connection.execute(update(crawl).values(name=name.replace("\x1b", "")))
    store(engine, 1, 0.9)
    skip(engine, 1, decided_by=name)
    for kind in ("focus", "noise"):
        assert data(desk, f"/api/evaluate/{kind}")["report"] is not None
        said = shown(desk, report=kind)
        assert acting(said) == []


def test_a_crawl_without_a_page_says_so(desk: DashboardContext, engine: Engine) -> None:
    assert 'id="report"' not in shown(desk)
    assert get(desk, "/api/evaluate/focus").status == HTTPStatus.NOT_FOUND
    assert data(desk, "/api/evaluate/focus", crawl="bees")["report"] is None
    assert get(desk, "/evaluate/focus/1").status == HTTPStatus.NOT_FOUND


def test_a_report_that_takes_long_is_waited_for(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "PAGES_BETWEEN_PAUSES", 1)
    monkeypatch.setattr(evaluate, "PAUSE_SECONDS", 0.3)
    for number in range(1, 4):
        store(engine, number, 0.9)
    said = shown(desk)
    assert 'id="report" data-live=' in said
    assert get(desk, "/evaluate/focus/1").status == HTTPStatus.NOT_FOUND
    assert "processed so far" in shown(desk)
    assert data(desk, "/api/evaluate/focus")["report"]["figures"]["total"]["pages"] == 3
    assert "being computed" not in shown(desk)


@pytest.mark.parametrize("report", ["focus", "noise"])
def test_an_unknown_crawl(desk: DashboardContext, report: str) -> None:
    assert get(desk, "/evaluate", report=report, crawl="wasps").status == HTTPStatus.NOT_FOUND
    assert get(desk, f"/api/evaluate/{report}", crawl="wasps").status == HTTPStatus.NOT_FOUND
    assert get(desk, "/evaluate/focus/999999999999999999").status == HTTPStatus.NOT_FOUND


# The noise report.


@BOTH
def test_what_was_skipped_as_noise(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, 0.9)
    judge(engine, 1)
    judge(engine, 2, bytes=3_000)
    skip(engine, 3)
    skip(engine, 4, kind="link", decided_by="learned")
    skip(engine, 5, audited=True, mistaken=False)
    found = data(desk, "/api/evaluate/noise")["report"]
    assert (found["images"], found["skipped_images"], found["links"], found["skipped_links"]) == (4, 1, 1, 1)
    assert (found["saved_bytes"], found["downloaded"], found["downloaded_bytes"]) == (2_000, 2, 4_000)
    assert (found["audited"], found["audited_images"], found["audited_pages"]) == (1, 0, 0)
    assert found["models"] == [
        {"name": "learned", "images": 0, "links": 1},
        {"name": "size", "images": 1, "links": 0},
    ]
    assert found["sites"] == [{"name": "a.example", "kept": 2, "audited": 1, "skipped": 2, "saved_bytes": 2_000}]
    said = shown(desk, report="noise")
    assert "/images?crawl=bees#rate" in said
    assert "2.0 kB" in said


def test_one_crawl_is_counted_as_all_are(engine: Engine) -> None:
    skip(engine, 1)
    assert noise_figures_of(engine.url, 1) == (noise_figures(engine.url) or [])[0]
    assert noise_figures_of(engine.url, 2) is None


def test_a_crawl_that_judged_no_image_says_so(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, 0.9)
    assert data(desk, "/api/evaluate/noise")["report"]["images"] == 0
    assert "/images?crawl=bees#rate" not in shown(desk, report="noise")


# Files.


@pytest.fixture
def alone(tmp_path: Path) -> DashboardContext:
    """A desk over a folder where no crawl was ever run."""
    settings = Settings()
    settings.setmodule(our_settings)
    return DashboardContext(
        URL.create("sqlite", database=str(tmp_path / "crawl.db")), tmp_path, settings, AccessControl()
    )


@pytest.mark.parametrize("kind", module.BEGINNINGS)
def test_our_files_are_known_by_what_is_in_them(alone: DashboardContext, kind: str) -> None:
    name = "mine.html" if kind in module.HTML_KINDS else "mine.json"
    make(alone.output / name, kind)
    (found,) = data(alone, "/api/evaluate/files")["files"]
    assert (found["name"], found["kind"], found["can_be_shown"]) == (name, kind, True)
    assert name in shown(alone, report="files", file=str(found["id"]))
    frame = get(alone, f"/evaluate/files/{found['id']}")
    assert frame.status == HTTPStatus.OK
    assert "sandbox" in dict(frame.headers)["Content-Security-Policy"].split("; ")
    assert frame.type.startswith("text/html")


@pytest.mark.parametrize("language", languages())
def test_a_focus_report_is_known_in_any_language(alone: DashboardContext, language: str) -> None:
    text = focus_report((), 0.5, "1.0", DAY, catalogue_of(language))
    (alone.output / "mine.html").write_text(text, encoding="utf-8")
    assert [one.kind for one in report_files(alone.output).files] == [FOCUS]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("report.html", "<!doctype html>\n<html lang=en><title>Winnow: extraction judged</title>"),
        ("report.html", '<!doctype html>\n<html lang="en"><head><title>Bees</title><title>Winnow: bees</title>'),
        ("report.html", ""),
        ("report.json", '{"format": "1"}'),
        ("report.json", "[]"),
    ],
)
def test_others_are_not_listed(alone: DashboardContext, name: str, body: str) -> None:
    (alone.output / name).write_text(body)
    assert data(alone, "/api/evaluate/files") == {"files": [], "unopened": 0}
    assert name not in shown(alone, report="files")


def test_figures_are_text(alone: DashboardContext) -> None:
    (alone.output / "x.json").write_text('{"format": 1, "winnow": "<script>alert(1)</script>"}')
    (found,) = report_files(alone.output).files
    body = get(alone, f"/evaluate/files/{found.id}").body
    assert b"&lt;script&gt;" in body
    assert b"<script" not in body


@pytest.mark.parametrize("attack", [*ATTACKS[:4], "\u202eevil\x1b", "a" * 200, "\udcff"])
def test_names_of_files_are_words(alone: DashboardContext, attack: str) -> None:
    make(alone.output / f"{attack.replace('/', '_')}.html", FOCUS)
    (found,) = report_files(alone.output).files
    said = shown(alone, report="files", file=str(found.id))
    assert acting(said) == []
    assert get(alone, f"/evaluate/files/{found.id}").status == HTTPStatus.OK
    assert get(alone, "/api/evaluate/files").status == HTTPStatus.OK


@pytest.mark.parametrize("odd", ["link", "folder", "pipe", "unreadable"])
def test_no_link_is_followed(alone: DashboardContext, tmp_path_factory: pytest.TempPathFactory, odd: str) -> None:
    there = tmp_path_factory.mktemp("elsewhere") / "report.html"
    make(there, FOCUS)
    here = alone.output / "report.html"
    if odd == "link":
        here.symlink_to(there)
    elif odd == "folder":
        here.mkdir()
    elif odd == "pipe":
        os.mkfifo(here)
    else:
        here.symlink_to(here)
    assert report_files(alone.output).files == ()


@pytest.mark.parametrize("number", ["0", "1", "999999999999999999", "..%2fcrawl.db", "../crawl.db"])
def test_other_numbers_lead_nowhere(alone: DashboardContext, number: str) -> None:
    make(alone.output / "report.html", FOCUS)
    assert get(alone, f"/evaluate/files/{number}").status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(("more", "status"), [(0, HTTPStatus.OK), (1, HTTPStatus.NOT_FOUND)])
def test_a_file_that_is_too_large_is_listed_and_not_shown(alone: DashboardContext, more: int, status: int) -> None:
    make(alone.output / "report.html", FOCUS)
    os.truncate(alone.output / "report.html", module.MOST_BYTES + more)
    (found,) = report_files(alone.output).files
    assert get(alone, f"/evaluate/files/{found.id}").status == status
    assert ("too large to show" in shown(alone, report="files")) == (status != HTTPStatus.OK)


def test_what_is_not_looked_at_is_said(alone: DashboardContext) -> None:
    make(alone.output / "1.html", FOCUS)
    for number in range(module.MOST_OPENED + 1):
        (alone.output / f"{number}.html").write_bytes((alone.output / "1.html").read_bytes())
        os.utime(alone.output / f"{number}.html", (number, number))
    found = report_files(alone.output)
    newest = [f"{number}.html" for number in range(module.MOST_OPENED, 0, -1)]
    assert ([one.name for one in found.files], found.unopened) == (newest, 1)
    assert re.search(r"\b1 older file\b", shown(alone, report="files"))


def test_there_need_be_no_folder_and_no_crawl(alone: DashboardContext, tmp_path: Path) -> None:
    assert report_files(tmp_path / "none").files == ()
    assert get(alone, "/evaluate").status == HTTPStatus.NOT_FOUND
    assert get(alone, "/evaluate", report="files").status == HTTPStatus.OK
