"""The command `winnow` in a folder that holds no project."""

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import browser
import fork_server
import missing
import pytest
from command_line import run_command
from fallback_servers import DOUBTFUL, TEXT
from sites import Answer, Site, serving
from wall_pages import WALLS

from crawler import __version__
from crawler.api import console
from crawler.outcomes import Code, Outcome
from crawler.page.document import Fault

BEE = "Honey bees dance in the dark of the hive to tell the others where the flowers are, and how far away."
LOOPBACK = ("-s", "ALLOWED_PRIVATE_HOSTS=127.0.0.1")
START = "import sys; sys.argv[0] = 'winnow'; from crawler.api.console import main; main()"


def winnow(*words: str, folder: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    environment |= {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
    line = [sys.executable, "-c", START, *words]
    return subprocess.run(line, cwd=folder, input=given, capture_output=True, env=environment, timeout=90)


def page(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The command `page`, which `winnow` and `scrapy` have."""
    return fork_server.run(["scrapy", "page", *words, *LOOPBACK], folder, fork_server.environment(), 90)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {"/": f"<title>Bees</title><p>{BEE}", "/moved": Answer("", 302, headers={"Location": "/"})}
    with serving(Site(routes)) as served:
        yield served


@pytest.mark.long
def test_crawl_in_any_folder(site: Site, tmp_path: Path) -> None:
    done = winnow("crawl", site.url, "--topic", "honey bees", *LOOPBACK, folder=tmp_path)
    items = [json.loads(line) for line in (tmp_path / "output" / "topic.jsonl").read_text().splitlines()]
    assert (done.returncode, [item["text"] for item in items]) == (0, [BEE])
    again = winnow("crawl", site.url, "--topic", "honey bees", *LOOPBACK, folder=tmp_path).stderr.decode()
    assert "is finished" in again
    assert {"refresh=all", "fresh=yes"} <= set(again.split())


def test_a_page_from_the_web_has_the_limits_of_a_crawl(tmp_path: Path) -> None:
    parts = Answer(gzip.compress(b"") * 1_001, headers={"Content-Encoding": "gzip"})
    with serving(Site({"/": Answer("", headers={"X": "x" * 70_000}), "/parts": parts})) as hostile:
        done = [page(hostile.url + path, folder=tmp_path) for path in ("", "parts")]
    assert [ended.returncode for ended in done] == [1, 1]
    assert str(Outcome(Code.HEADERS_TOO_LARGE).message) in done[0].stderr
    assert str(Outcome(Code.BODY_TOO_LARGE).message) in done[1].stderr


def test_a_wall_is_said_and_its_text_is_not_printed(tmp_path: Path) -> None:
    walls = {"/200": Answer(WALLS["imperva 200"][1].body), "/403": Answer(WALLS["anubis"][1].body, 403)}
    with serving(Site(walls | {"/402": Answer("", 402, headers={"crawler-price": "USD 0.01"})})) as site:
        done = [page(site.url + path, folder=tmp_path) for path in ("200", "403", "402")]
    assert [(ended.returncode, ended.stdout) for ended in done] == [(1, "")] * 3
    for ended, value in zip(done, ("Imperva", "Anubis", "USD 0.01"), strict=True):
        assert value in ended.stderr


def test_clean_a_page_from_the_web(site: Site, tmp_path: Path) -> None:
    done = winnow("page", f"{site.url}moved", *LOOPBACK, "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert (found["url"], found["title"], found["text"]) == (site.url, "Bees", BEE)


@pytest.mark.parametrize(
    ("words", "status", "text"), [((), 1, ""), (("--render",), 0, f"{BEE} (#/bees)")], ids=["served", "rendered"]
)
def test_clean_a_page_whose_text_scripts_make(words: tuple[str, ...], status: int, text: str, tmp_path: Path) -> None:
    if words:
        missing.skip(browser.missing())
    program = f"document.body.innerHTML = `<p>{BEE} (${{location.hash}})</p>`"
    frame = "<body><div id=app></div><script src=/program.js></script>"
    with serving(Site({"/": frame, "/program.js": Answer(program, content_type="text/javascript")})) as site:
        done = page(f"{site.url}#/bees", *words, folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (status, text)
    assert ("--render" in done.stderr) is not bool(words)


@pytest.mark.long
def test_clean_standard_input_and_a_file(tmp_path: Path) -> None:
    html = f"<p>{BEE} <a href=/more>More</a> of them dance there.</p>".encode()
    (tmp_path / "bees.html").write_bytes(html)
    assert winnow("page", "-", folder=tmp_path, given=html).stdout.decode().startswith(BEE)
    shown = winnow("page", "bees.html", "--markdown", "--url", "https://example.org/", folder=tmp_path).stdout
    assert b"[More](https://example.org/more)" in shown


REFUSALS = [
    ("pgae", 2, "winnow: there is no command 'pgae'; the nearest is page"),
    ("page none.html --render", 2, "page: --render goes with the address of a page"),
    ("page .", 2, "page: '.' is a folder; winnow clean cleans the files in it"),
    ("page none.html", 2, "page: 'none.html' cannot be read (No such file or directory)"),
]


def test_refusals_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    for line, status, sentence in REFUSALS:
        monkeypatch.setattr("sys.argv", ["winnow", *line.split()])
        with pytest.raises(SystemExit) as ended:
            console.main()
        assert (ended.value.code, capsys.readouterr().err) == (status, f"{sentence}\n")


def test_a_page_that_cannot_be_fetched_is_told_in_one_line(tmp_path: Path) -> None:
    done = fork_server.run(["scrapy", "page", "http://127.0.0.1:9/"], tmp_path, fork_server.environment(), 90)
    why = "page: 'http://127.0.0.1:9/' cannot be fetched: address is not public\n"
    assert (done.returncode, done.stderr) == (1, why)


@pytest.mark.long
def test_help_lists_commands_and_arguments(tmp_path: Path) -> None:
    commands = winnow(folder=tmp_path).stdout.decode()
    assert [name for name in ("crawl", "page", "clean", "export", "dashboard") if f"\n  {name} " not in commands] == []
    options = winnow("crawl", "--help", folder=tmp_path).stdout.decode()
    assert all(name in options for name in ("--topic", "--max-pages", "(default: site)"))
    assert "robots.txt" in winnow("page", "--help", folder=tmp_path).stdout.decode()
    assert "winnow clean [--stored NAME]" in winnow("clean", "--help", folder=tmp_path).stdout.decode()


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = winnow("completion", folder=tmp_path).stdout.decode()
    for words, wanted in (("winnow cl", "clean"), ("winnow crawl --min-r", "--min-relevance")):
        asked = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _winnow; echo ${{COMPREPLY[*]}}"
        assert subprocess.run(["bash", "-c", asked], capture_output=True, text=True).stdout == f"{wanted}\n"


@pytest.mark.long
def test_a_redirect_does_not_lead_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text(f"<p>{BEE}</p>")
    routes = {"/": Answer("", 302, headers={"Location": (tmp_path / "secret.html").as_uri()})}
    with serving(Site(routes)) as hostile:
        done = winnow("page", hostile.url, *LOOPBACK, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")


UNREAD = {
    "code.txt": (b"x = {1: [2, 3]}\ny = x[1][0] + 2\n", Outcome(Code.UNREAD_DOCUMENT, Fault.NO_SENTENCES)),
    "page.txt": (b"<!DOCTYPE html><p>Bees dance.", Outcome(Code.UNREAD_DOCUMENT, Fault.BROKEN)),
    "bees.pdf": (b"%PDF-1.7 nothing", Outcome(Code.UNREAD_DOCUMENT, Fault.BROKEN)),
    "bees.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Outcome(Code.NOT_HTML, "application/octet-stream")),
    "bees.html": (b"<body><p data-pagefind-ignore>Bees dance in the dark.", Outcome(Code.TEXT_WITHHELD)),
}


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_printed(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["winnow", option])
    console.main()
    assert capsys.readouterr().out == f"Winnow {__version__}\n"


@pytest.mark.parametrize("name", UNREAD)
def test_a_file_without_text_has_the_reason_that_a_crawl_names(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "bees.pdf":
        missing.need("pypdfium2")
    data, outcome = UNREAD[name]
    (tmp_path / name).write_bytes(data)
    status, _, err = run_command(capsys, "page", str(tmp_path / name))
    assert (status, err) == (1, f"page: {tmp_path / name} has no text: {outcome.message}\n")


def test_a_document_from_the_web_without_text_has_its_reason(tmp_path: Path) -> None:
    data, outcome = UNREAD["code.txt"]
    with serving(Site({"/": Answer(data, content_type="text/plain")})) as site:
        done = page(site.url, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"page: {site.url} has no text: {outcome.message}\n"


MAIL = f"From: Ann <ann@bees.example>\nSubject: Bees\n\n{BEE}\n"
MARKDOWN = f"---\ntitle: Bees\nauthor: Ann\n---\n{BEE}"


@pytest.mark.parametrize(
    ("name", "text", "url", "facts"),
    [
        ("bees.eml", MAIL, "", ("Bees", "Ann", f"Bees\n{BEE}")),
        ("bees.mbox", MAIL, "", ("Bees", "Ann", f"Bees\n{BEE}")),
        ("bees.md", MARKDOWN, "", ("Bees", "Ann", BEE)),
        ("llms.txt", "# Bees\n\n- [They dance](dance.md)", "", ("Bees", "", "Bees\n- They dance")),
        ("bees", MARKDOWN, "https://a.example/bees.md?raw=1", ("Bees", "Ann", BEE)),
        ("-", MARKDOWN, "https://a.example/bees.md", ("Bees", "Ann", BEE)),
        ("-", f"OF BEES\n\n{BEE}", "https://a.example/bees.txt", ("OF BEES", "", f"OF BEES\n{BEE}")),
        ("-", f"<!DOCTYPE html><title>Bees</title><p>{BEE}", "https://a.example/bees.md", ("Bees", "", BEE)),
        ("bees.html", f"<title>Bees</title><p>{BEE}", "https://a.example/bees", ("Bees", "", BEE)),
    ],
)
def test_a_text_file_is_read_by_its_name_or_its_address(
    name: str,
    text: str,
    url: str,
    facts: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    if name != "-":
        (tmp_path / name).write_text(text)
    status, out, _ = run_command(capsys, "page", name, "--json", "--url", url)
    assert status == 0
    cleaned = json.loads(out)
    assert (cleaned["title"], cleaned["author"], cleaned["text"]) == facts


def test_a_page_in_doubt_has_the_text_of_the_second_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hives.html").write_text(DOUBTFUL)
    line = ("page", str(tmp_path / "hives.html"), "-s")
    assert run_command(capsys, *line, "EXTRACTOR_FALLBACK=fallback_servers.second_text") == (0, f"{TEXT}\n", "")
    assert run_command(capsys, *line, "EXTRACTOR_FALLBACK=fallback_servers.nothing")[0] == 2
