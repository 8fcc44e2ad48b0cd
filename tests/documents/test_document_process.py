"""Documents are read in a process of their own: a hostile one costs itself alone, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from document_files import W, docx, epub, odt, packed, paragraph, pdf
from fork_server import environment

from crawler.documents.document import DocumentError, Fault
from crawler.documents.document_type import DOCX, EPUB, ODT, PDF
from crawler.documents.process import DocumentProcess

GOOD = docx(paragraph("Bees."))
HALF_MINUTE = 25


@pytest.fixture
def process() -> Iterator[DocumentProcess]:
    process = DocumentProcess()
    yield process
    process.close()


def raw_pdf(*objects: bytes) -> bytes:
    """A PDF file of these objects, the first of which is the catalog."""
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    end = b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, table) + end


def one_page(content: bytes) -> bytes:
    return raw_pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d /Filter/FlateDecode>>stream\n%b\nendstream"
        % (len(packed_ := zlib.compress(content, 9)), packed_),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
DEEP = [b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (at + 3) for at in range(5_000)]
LAUGHS = "".join(f'<!ENTITY {chr(98 + at)} "{("&" + chr(97 + at) + ";") * 10}">' for at in range(9))
LAUGHTER = f'<!DOCTYPE w [<!ENTITY a "bees">{LAUGHS}]><w:document {W}><w:body>{paragraph("&j;")}</w:body></w:document>'
HOSTNAME = '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
FOREIGN = f"{HOSTNAME}<w:document {W}><w:body>{paragraph('&a;')}</w:body></w:document>"
HOSTILE = {
    "pages that hold themselves": (PDF, raw_pdf(CATALOG, b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 100000000>>")),
    "a billion pages": (PDF, raw_pdf(CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1000000000>>", b"<</Type/Page>>")),
    "a deep tree": (PDF, raw_pdf(CATALOG, *DEEP, b"<</Type/Page>>")),
    "far places": (PDF, one_page(b"BT /F 1e30 Tf 1e30 0 0 1e30 1e37 1e37 Tm (Bees dance in the dark) Tj ET")),
    "noise": (PDF, b"%PDF-1.7\n" + bytes(range(256)) * 4000),
    "half a file": (PDF, pdf([])[:-200]),
    "entities of entities": (DOCX, packed({"[Content_Types].xml": "<T/>", "word/document.xml": LAUGHTER})),
    "a file of the machine": (DOCX, packed({"[Content_Types].xml": "<T/>", "word/document.xml": FOREIGN})),
    "zeros": (DOCX, packed({"[Content_Types].xml": "<T/>", "word/document.xml": b"<a>" + b" " * 100_000_000})),
    "many files": (DOCX, packed({f"word/{at}": "" for at in range(20_001)})),
    "deep elements": (DOCX, docx("<w:ins>" * 5_000 + paragraph("deep") + "</w:ins>" * 5_000)),
    "many empty paragraphs": (DOCX, docx("<w:p/>" * 1_000_000)),
    "deep lists": (ODT, odt("<text:list><text:list-item>" * 400 + "</text:list-item></text:list>" * 400)),
    "another type": (EPUB, GOOD),
    "many tags": (EPUB, epub("<p>b" * 300_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_a_fault_and_little_time(process: DocumentProcess, name: str) -> None:
    kind, data = HOSTILE[name]
    started = time.monotonic()
    with pytest.raises(DocumentError):
        process.read(data, kind)
    assert time.monotonic() - started < HALF_MINUTE
    assert process.read(GOOD, DOCX).body == "<p>Bees.</p>\n"


def test_boxes_in_boxes_are_read_once(process: DocumentProcess) -> None:
    data = docx("<w:p><w:txbxContent>" * 60 + paragraph("deep") + "</w:txbxContent></w:p>" * 60)
    assert process.read(data, DOCX).body.count("deep") <= 2


def slow_pdf() -> bytes:
    """A page of so many words that reading it takes some seconds."""
    words = b"".join(b"(bees) Tj 1 0 0 1 %d %d Tm " % (at % 60 * 10, 700 - at // 60 % 700) for at in range(200_000))
    return one_page(b"BT /F 1 Tf 1 0 0 1 7 700 Tm " + words + b"ET")


def test_a_document_that_takes_too_long_costs_itself_alone(process: DocumentProcess) -> None:
    process.read(GOOD, DOCX)
    process.seconds = 0.3
    with pytest.raises(DocumentError, match=Fault.LIMIT):
        process.read(slow_pdf(), PDF)
    process.seconds = 30
    assert process.read(GOOD, DOCX).body == "<p>Bees.</p>\n"


def test_a_process_that_was_killed_is_renewed(process: DocumentProcess) -> None:
    process.read(GOOD, DOCX)
    assert process._process is not None
    process._process.kill()
    process._process.wait()
    assert process.read(GOOD, DOCX).body == "<p>Bees.</p>\n"


PARENT = """
import sys, time
from pathlib import Path
from crawler.documents.process import DocumentProcess
process = DocumentProcess()
process.read(Path(sys.argv[1]).read_bytes(), sys.argv[2])
print(process._process.pid, flush=True)
if len(sys.argv) > 3:
    process.read(Path(sys.argv[3]).read_bytes(), "application/pdf")
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked for in Linux's /proc")
@pytest.mark.parametrize("is_busy", [pytest.param(False, marks=pytest.mark.long), True])
def test_nothing_is_left_when_the_crawl_is_killed(tmp_path: Path, is_busy: bool) -> None:
    (tmp_path / "good.docx").write_bytes(GOOD)
    (tmp_path / "slow.pdf").write_bytes(slow_pdf())
    line = [sys.executable, "-c", PARENT, "good.docx", DOCX, *(["slow.pdf"] if is_busy else [])]
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
        return "crawler.documents.worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
