"""Documents are read in a process of their own: a hostile one costs itself alone, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from document_files import W, directory, docx, epub, odt, one_page, packed, paragraph, pdf, raw_pdf, slow_pdf
from fork_server import environment

from crawler.contrib.documents.package import MAX_FILES, Package
from crawler.contrib.documents.process import DocumentProcess
from crawler.page.document import DocumentError, Fault
from crawler.page.document_type import MARKDOWN, PLAIN_TEXT

GOOD = docx(paragraph("Bees."))
HALF_MINUTE = 25


@pytest.fixture(scope="module")
def process() -> Iterator[DocumentProcess]:
    process = DocumentProcess()
    yield process
    process.close()


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
DEEP = [b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (at + 3) for at in range(5_000)]
LAUGHS = "".join(f'<!ENTITY {chr(98 + at)} "{("&" + chr(97 + at) + ";") * 10}">' for at in range(9))
LAUGHTER = f'<!DOCTYPE w [<!ENTITY a "bees">{LAUGHS}]><w:document {W}><w:body>{paragraph("&j;")}</w:body></w:document>'
HOSTNAME = '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
FOREIGN = f"{HOSTNAME}<w:document {W}><w:body>{paragraph('&a;')}</w:body></w:document>"
HOSTILE: dict[str, Callable[[], bytes]] = {
    "pages that hold themselves": lambda: raw_pdf(CATALOG, b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 100000000>>"),
    "a billion pages": lambda: raw_pdf(CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1000000000>>", b"<</Type/Page>>"),
    "a deep tree": lambda: raw_pdf(CATALOG, *DEEP, b"<</Type/Page>>"),
    "far places": lambda: one_page(b"BT /F 1e30 Tf 1e30 0 0 1e30 1e37 1e37 Tm (Bees dance in the dark) Tj ET"),
    "noise": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 4000,
    "half a file": lambda: pdf([])[:-200],
    "entities of entities": lambda: packed({"[Content_Types].xml": "<T/>", "word/document.xml": LAUGHTER}),
    "a file of the machine": lambda: packed({"[Content_Types].xml": "<T/>", "word/document.xml": FOREIGN}),
    "zeros": lambda: packed({"[Content_Types].xml": "<T/>", "word/document.xml": b"<a>" + b" " * 70_000_000}),
    "many files": lambda: packed({f"word/{at}": "" for at in range(20_001)}),
    "deep elements": lambda: docx("<w:ins>" * 5_000 + paragraph("deep") + "</w:ins>" * 5_000),
    "many empty paragraphs": lambda: docx("<w:p/>" * 1_000_000),
    "deep lists": lambda: odt("<text:list><text:list-item>" * 400 + "</text:list-item></text:list>" * 400),
    "another type": lambda: packed({"book.txt": "Bees."}),
    "a directory of 200,000 entries": lambda: directory(200_000),
    "many tags": lambda: epub("<p>b" * 300_000),
}  # fmt: skip
"""Files that are made when they are read, as some of them are large."""


LETTER = "From: a\nSubject: b\n"
IN_BASE64 = "Content-Transfer-Encoding: base64\n\nQmVlcw==\n"
LONG_TEXTS = {
    "empty lines": "\n" * 150_000,
    "one line": "bees " * 60_000,
    "quotes in each other": ">" * 100_000,
    "a paragraph a page": "bees\n\f" * 20_000,
    "headers": "From: bees\n" * 20_000,
    "messages": "From b 2024\nFrom: a\nDate: b\n\nBees.\n\n" * 1_000,
    "struck letters": "b\x08" * 100_000,
    "space": "bees" + " " * 200_000 + "dance",
    "space before a number": "bees" + " " * 200_000 + "12345",
    "dots": "." * 200_000 + "bees",
    "dots and space": ". " * 100_000 + "bees!",
    "a section of sections": " 1" + ".1" * 40_000 + " bees\n" + "bees\n" * 20_000,
    "items below an item far to the right": " " * 100_000 + "- bees:\n" + "- bees:\n" * 8_000,
    "a title of a book": "Title: a" + " " * 500_000 + "b\n*** START OF BEES ***\nBees dance.",
    "parameters of a header": f'{LETTER}Content-Type: text/plain; a="{";" * 300_000}\n{IN_BASE64}',
    "encoded words": f"From: a\nSubject: {'=?utf-8?q?a?= ' * 30_000}\n\nBees.",
}
LONG_MARKDOWN = {
    "space in a heading": "# bees" + " " * 200_000 + "dance",
    "names of a heading": "# bees" + " {#dance" * 30_000,
    "space in a box of colons": ":::" + " " * 50_000 + "{{",
    "words in a box of colons": "::: " + "bees " * 10_000 + "{{",
    "space in a box of marks": "!!!" + " " * 50_000 + ".",
    "words in a box of marks": "!!! " + "bees " * 10_000 + ".",
}
"""Texts whose time to read grows with their length alone; the process ends what takes longer than its limit."""


def fault_of(process: DocumentProcess, data: bytes, content_type: str) -> Fault | None:
    try:
        process.read(data, content_type)
    except DocumentError as error:
        return error.fault
    return None


@pytest.mark.parametrize(
    ("text", "content_type"),
    [
        *(pytest.param(text, PLAIN_TEXT, id=name) for name, text in LONG_TEXTS.items()),
        *(pytest.param(text, MARKDOWN, id=name) for name, text in LONG_MARKDOWN.items()),
    ],
)
def test_long_texts_take_no_longer_than_their_limit(process: DocumentProcess, text: str, content_type: str) -> None:
    assert fault_of(process, text.encode(), content_type) is not Fault.LIMIT


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_a_fault_and_little_time(process: DocumentProcess, name: str) -> None:
    data = HOSTILE[name]()
    started = time.monotonic()
    with pytest.raises(DocumentError):
        process.read(data)
    assert time.monotonic() - started < HALF_MINUTE
    assert process.read(GOOD).body == "<p>Bees.</p>\n"


def test_archives_with_a_large_directory_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "word/document.xml" in Package(directory(MAX_FILES))
    monkeypatch.setattr("zipfile.ZipFile", None)
    with pytest.raises(DocumentError, match=Fault.LIMIT):
        Package(directory(MAX_FILES + 1))


def test_boxes_in_boxes_are_read_once(process: DocumentProcess) -> None:
    data = docx("<w:p><w:txbxContent>" * 60 + paragraph("deep") + "</w:txbxContent></w:p>" * 60)
    assert process.read(data).body.count("deep") == 1


def test_a_document_that_takes_too_long_costs_itself_alone(
    process: DocumentProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.read(GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(process, "seconds", 0.3)
        with pytest.raises(DocumentError, match=Fault.LIMIT):
            process.read(slow_pdf())
    assert process.read(GOOD).body == "<p>Bees.</p>\n"


def test_a_process_that_was_killed_is_renewed(process: DocumentProcess) -> None:
    process.read(GOOD)
    assert process.process.child is not None
    process.process.child.kill()
    process.process.child.popen.wait()
    assert process.read(GOOD).body == "<p>Bees.</p>\n"


PARENT = """
import sys, time
from pathlib import Path
from crawler.contrib.documents.process import DocumentProcess
process = DocumentProcess()
process.read(Path(sys.argv[1]).read_bytes())
print(process.process.child.popen.pid, flush=True)
if len(sys.argv) > 2:
    process.read(Path(sys.argv[2]).read_bytes())
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked for in Linux's /proc")
@pytest.mark.parametrize("is_busy", [pytest.param(False, marks=pytest.mark.long), True])
def test_nothing_is_left_when_the_crawl_is_killed(tmp_path: Path, is_busy: bool) -> None:
    (tmp_path / "good.docx").write_bytes(GOOD)
    (tmp_path / "slow.pdf").write_bytes(slow_pdf())
    line = [sys.executable, "-c", PARENT, "good.docx", *(["slow.pdf"] if is_busy else [])]
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.5)
        os.kill(parent.pid, signal.SIGKILL)
    ended = time.monotonic() + 5
    while _runs(child) and time.monotonic() < ended:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return "crawler.processes.function_child" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
