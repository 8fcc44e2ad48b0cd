"""The export as a form: the command it shows is the export that a download has, whatever is put into it."""

import json
import shlex
import subprocess
from argparse import Namespace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from dashboard_client import Answer, Request, answer
from missing import need
from scrapy.settings import Settings
from sqlalchemy.engine import make_url

from crawler.command_line.options import Subcommand
from crawler.contrib.corpus.command import DataSetOptions
from crawler.contrib.corpus.quality import complete_quality
from crawler.contrib.corpus.views import download
from crawler.contrib.corpus.views.export_form import GROUPS, OUTPUTS, ExportForm
from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.reports.condition import Comparison

HOSTILE = (
    "title == 'x; rm -rf ~' and url != '&& ls'",
    "title == '$(touch owned)'",
    'title == "`touch owned`"',
    "title == '''--output=/etc/passwd'''",
    "title == 'it''s' and url != '\\'",
    "title != '!!' and title != '蜜蜂\u3000'",
)


@pytest.fixture(scope="module")
def desk(crawled: Path) -> DashboardContext:
    """A dashboard over the demo's crawl."""
    settings = Settings()
    settings.setmodule("crawler.settings")
    return DashboardContext(make_url(f"sqlite:///{crawled / 'crawl.db'}"), crawled, settings, AccessControl())


def ask(desk: DashboardContext, what: str, query: dict[str, str]) -> Answer:
    return answer(desk, Request("GET", f"/crawls/1/corpus/{what}", query, headers={"host": "localhost"}))


def parsed(form: ExportForm) -> Namespace:
    """What the command itself reads from the words that a shell makes of the line shown."""
    line = form.command.removeprefix("winnow export ")
    words = subprocess.run(["sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True, encoding="utf-8")
    opts: Namespace = (
        Subcommand("", DataSetOptions("export").add_arguments).parser("").parse_args(words.stdout.split("\0")[:-1])
    )
    DataSetOptions("export").check(opts)
    return opts


def test_a_value_stays_a_value() -> None:
    for where in HOSTILE:
        opts = parsed(ExportForm("bees", where=where))
        (condition,) = opts.where
        assert condition.source == where.replace("\u3000", " ")
        assert (opts.output, opts.into, opts.name) == ("bees-export.jsonl", None, "bees")


def test_each_output_is_a_command() -> None:
    need("pyarrow")
    for output in OUTPUTS:
        opts = parsed(ExportForm("bees", output, "zh\nquality.words > 5"))
        assert (opts.output or opts.into).startswith("bees-")
        assert isinstance(opts.where[1], Comparison)


def test_each_box_is_an_option() -> None:
    query = {f"{name}-{value}": "yes" for name, values in GROUPS.items() for value in values}
    form = ExportForm.of("bees", query | {"prefer": "example.org"})
    opts = parsed(form)
    assert {name: tuple(getattr(opts, name)) for name in GROUPS} == dict(GROUPS)
    assert str(opts.prefer) == "example.org"
    assert ExportForm.of("bees", form.parameters) == form


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"where": "quality.wrds > 3"}, "there is no field "),
        ({"where": "quality.words >"}, "is not complete"),
        ({"where": "title == '\x1b[2J'"}, "has characters that cannot be seen"),
        ({"where": "title == '\u202eevil'"}, "has characters that cannot be seen"),
        ({"where": "title == '\x03'"}, "has characters that cannot be seen"),
        ({"where": "zh\n" * 21}, "at most 20 conditions are allowed here"),
        ({"prefer": "best"}, "--prefer works only with --dedupe exact or near"),
        ({"prefer": "zh", "dedupe-near": "yes"}, "allowed are oldest, best, and a site or host"),
        ({"output": "warc", "mask-email": "yes"}, "--mask cannot be combined with warc"),
        ({"output": "warc", "dedupe-paragraphs": "yes"}, "--dedupe paragraphs cannot be combined with warc"),
    ],
)
def test_what_is_wrong_is_told(desk: DashboardContext, query: dict[str, str], why: str) -> None:
    found = ask(desk, "export", query)
    assert found.status == HTTPStatus.OK
    assert why in found.body.decode()
    assert "corpus/download" not in found.body.decode()
    assert ask(desk, "download", query).status == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"output": "csv", "where": "language == 'zh'"},
        {"output": "jsonl.zst", "where": "quality.words > 100\nen", "keep-gopher": "yes"},
        {"dedupe-near": "yes", "dedupe-paragraphs": "yes", "prefer": "best", "mask-email": "yes"},
        {"output": "parquet", "keep-c4": "yes"},
    ],
)
def test_a_download_is_what_the_command_writes(
    desk: DashboardContext, query: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    if query.get("output") == "parquet":
        need("pyarrow")
    monkeypatch.chdir(tmp_path)
    form = ExportForm.of("topic", query)
    found = ask(desk, "download", query)
    assert found.status == HTTPStatus.OK, found.body
    words = shlex.split(form.command)[1:]
    status, _, err = run_command(capfd, *words, "-s", f"OUTPUT_DIR={desk.output}")
    assert status == 0, err
    (written,) = [path for path in tmp_path.iterdir() if not path.name.endswith(".removed.jsonl")]
    assert written.read_bytes() == found.body
    ending = OUTPUTS[form.output].ending
    assert dict(found.headers)["Content-Disposition"] == f'attachment; filename="pages{ending}"'


def test_a_folder_is_no_download(desk: DashboardContext) -> None:
    assert ask(desk, "download", {"output": "markdown"}).status == HTTPStatus.BAD_REQUEST
    assert "corpus/download" not in ask(desk, "export", {"output": "set"}).body.decode()


@pytest.mark.parametrize(("name", "value", "status"), [("MOST_BYTES", 1_000, 413), ("EXPORT_SECONDS", 0.0, 503)])
def test_a_download_is_bounded(
    desk: DashboardContext, monkeypatch: pytest.MonkeyPatch, name: str, value: float, status: int
) -> None:
    monkeypatch.setattr(download, name, value)
    found = ask(desk, "download", {})
    assert found.status == status
    assert "use the command" in found.body.decode()
    monkeypatch.undo()
    assert ask(desk, "download", {}).status == HTTPStatus.OK


def test_how_many_pages_would_be_left(desk: DashboardContext) -> None:
    every = [json.loads(line) for line in ask(desk, "download", {}).body.splitlines()]
    wanted = [one for one in every if one["language"] == "zh" and complete_quality(one)["quality"]["words"] > 200]
    said = f"Of {len(every)} pages, {len(wanted)} "
    for _ in range(300):  # each of which waits for the background for a tenth of a second
        text = ask(desk, "export", {"where": "quality.words > 200\nzh"}).body.decode()
        if said in " ".join(text.split()):
            break
    assert said in " ".join(text.split())
    assert 0 < len(wanted) < len(every)


@pytest.mark.parametrize("query", [{"where": "x" * 4_001}, {"prefer": "x" * 501}])
def test_parameters_have_a_limit(desk: DashboardContext, query: dict[str, str]) -> None:
    assert ask(desk, "export", query).status == HTTPStatus.BAD_REQUEST
