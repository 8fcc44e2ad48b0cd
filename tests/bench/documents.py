"""How well PDF files and plain texts are read: documents that Debian has as HTML, too, and files made by LibreOffice.

    python tests/bench/documents.py [--unseen] FOLDER [PART OF A NAME [PROGRAMS]]
    python tests/bench/documents.py --printed FILE.html ...
    python tests/bench/documents.py --texts FOLDER [PART OF A NAME]
    python tests/bench/documents.py --markdown FOLDER

FOLDER has the unpacked packages, one folder each (`apt-get download PACKAGE`, `dpkg -x`). The gold is the text that the
extractor `auto` finds in the HTML. The columns are the F1 of runs of four words, of single words, of whole paragraphs
and of headings, and CPU seconds. The other programs are plain PDFium, pdftotext, pdfminer.six and pypdf, if they are
installed; if their text has empty lines, these end its paragraphs. With --printed, LibreOffice (soffice) makes ODT,
DOCX, EPUB and PDF of the HTML files; the gold is all of their text.

With --texts, FOLDER has packages with `NAME.txt.gz` beside `NAME.html.gz`, such as those of the RFCs (doc-rfc-std in
Debian's part non-free). The gold is the text of the HTML without its running headers and tables of contents. HTML that
only colours the lines of the text has neither paragraphs nor headings to compare: `lines` counts such files, `pages`
those that xml2rfc made. Every tenth file is judged, by its number.

With --markdown, FOLDER has been filled by `npm install marked fastify pino undici docsify`. The gold of each Markdown
file of these packages and of those that they need is what marked makes of it; `source` is the word F1 with the source,
read as `strangers.py` does.
"""

import gzip
import io
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lxml import html as lxml_html

from crawler.contrib.lab.evaluation.text_metrics import f1, precision_recall, shingles, tokens
from crawler.extraction import extract
from crawler.page.page import Page

MANUALS = {
    "debian-policy": ("usr/share/doc/debian-policy/policy.pdf.gz", "usr/share/doc/debian-policy/policy.html"),
    "developers-reference": (
        "usr/share/developers-reference/developers-reference.pdf",
        "usr/share/developers-reference",
    ),
    "debmake-doc": ("usr/share/doc/debmake-doc/debmake-doc.en.pdf", "usr/share/doc/debmake-doc/html/*.en.html"),
    "debmake-doc:zh": (
        "usr/share/doc/debmake-doc/debmake-doc.zh-cn.pdf",
        "usr/share/doc/debmake-doc/html/*.zh-cn.html",
    ),
    "debmake-doc:ja": ("usr/share/doc/debmake-doc/debmake-doc.ja.pdf", "usr/share/doc/debmake-doc/html/*.ja.html"),
    "debmake-doc:de": ("usr/share/doc/debmake-doc/debmake-doc.de.pdf", "usr/share/doc/debmake-doc/html/*.de.html"),
    "debian-faq": ("usr/share/doc/debian/FAQ/debian-faq.en.pdf.gz", "usr/share/doc/debian/FAQ/*.en.html"),
    "debian-history": (
        "usr/share/doc/debian-history/docs/project-history.en.pdf",
        "usr/share/doc/debian-history/docs/*.en.html",
    ),
    "debian-history:ru": (
        "usr/share/doc/debian-history/docs/project-history.ru.pdf",
        "usr/share/doc/debian-history/docs/*.ru.html",
    ),
    "debian-history:ko": (
        "usr/share/doc/debian-history/docs/project-history.ko.pdf",
        "usr/share/doc/debian-history/docs/*.ko.html",
    ),
    "installation-guide-amd64": (
        "usr/share/doc/installation-guide-amd64/en/install.en.pdf.gz",
        "usr/share/doc/installation-guide-amd64/en/*.html",
    ),
    "octave-doc": ("usr/share/doc/octave/octave.pdf", "usr/share/doc/octave/octave.html"),
    "r-doc-pdf:intro": ("usr/share/R/doc/manual/R-intro.pdf", "../r-doc-html/usr/share/R/doc/manual/R-intro.html"),
    "r-doc-pdf:FAQ": ("usr/share/R/doc/manual/R-FAQ.pdf", "../r-doc-html/usr/share/R/doc/manual/R-FAQ.html"),
    "r-doc-pdf:lang": ("usr/share/R/doc/manual/R-lang.pdf", "../r-doc-html/usr/share/R/doc/manual/R-lang.html"),
}
"""The PDF file of each manual and its HTML: a file, a pattern, or a folder of it. The reader was developed on these."""
FAI, EDU = "usr/share/doc/fai-doc/fai-guide", "usr/share/doc/debian-edu-doc-en/debian-edu-bookworm-manual"
HISTORY = "usr/share/doc/debian-history/docs"
GUIDE = "usr/share/doc/installation-guide-amd64/de"
UNSEEN = {
    "fai-doc": (f"{FAI}.pdf", f"{FAI}.html"),
    "debian-edu-doc-en": (f"{EDU}.pdf", f"{EDU}.html"),
    "doxygen-doc": ("usr/share/doc/doxygen/doxygen_manual.pdf", "usr/share/doc/doxygen/html/*.html"),
    "r-doc-pdf:exts": ("usr/share/R/doc/manual/R-exts.pdf", "../r-doc-html/usr/share/R/doc/manual/R-exts.html"),
    "debian-policy:fhs": (
        "usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz",
        "usr/share/doc/debian-policy/fhs/fhs-3.0.html",
    ),
    "installation-guide-amd64:de": (f"{GUIDE}/install.de.pdf.gz", f"{GUIDE}/*.html"),
    **{
        f"debian-history:{code}": (f"{HISTORY}/project-history.{code}.pdf", f"{HISTORY}/*.{code}.html")
        for code in ("de", "fr", "ja", "lt")
    },
}
"""The manuals of --unseen, which were read for the first time when the figures in docs/benchmarks.md were measured."""
LEAST_TOKENS = 8
"""The least tokens of a judged paragraph; shorter ones are cells, items and captions."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class Reading(NamedTuple):
    """What a program reads in a document."""

    text: str
    headings: tuple[str, ...] = ()
    seconds: float = 0.0


class Scores(NamedTuple):
    text: float
    words: float
    paragraphs: float
    headings: float


def ours(data: bytes) -> Reading:
    from crawler.contrib.documents.pdf import read_pdf

    return of_html(read_pdf(data).html.encode())


def of_html(html: bytes) -> Reading:
    from crawler.extraction.output.plain_text import plain

    page = Page("", html, "text/html; charset=utf-8")
    return Reading(
        plain(page.blocks, keeps_repeated=True), tuple(block.text for block in page.blocks if block.tag in HEADINGS)
    )


def pdfium(data: bytes) -> Reading:
    import pypdfium2

    file = pypdfium2.PdfDocument(data)
    return Reading("\n".join(page.get_textpage().get_text_range() for page in file))


def pdftotext(data: bytes) -> Reading:
    run = subprocess.run(["pdftotext", "-", "-"], input=data, capture_output=True, check=True)
    return Reading(run.stdout.decode(errors="replace").replace("\f", "\n"))


def pdfminer(data: bytes) -> Reading:
    from pdfminer.high_level import extract_text

    return Reading(extract_text(io.BytesIO(data)).replace("\f", "\n"))


def pypdf(data: bytes) -> Reading:
    from pypdf import PdfReader

    return Reading("\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages))


PROGRAMS: dict[str, Callable[[bytes], Reading]] = {
    "ours": ours,
    "pdfium": pdfium,
    "pdftotext": pdftotext,
    "pdfminer": pdfminer,
    "pypdf": pypdf,
}


def html_files(home: Path, pattern: str) -> list[Path]:
    """The files of a manual, in the order in which its first page links to them."""
    folder, _, name = pattern.rpartition("/")
    if (home / pattern).is_file():
        return [home / pattern]
    if (home / pattern).is_dir():
        folder, name = pattern, "*.html"
    files = {path.name: path for path in sorted((home / folder).glob(name)) if path.is_file()}
    first = next((path for key, path in files.items() if key.startswith("index")), None)
    links = re.findall(r'href="([^"#]+)', first.read_text(errors="replace")) if first else []
    order = [key for key in dict.fromkeys(links) if key in files]
    return [files[key] for key in dict.fromkeys([first.name if first else "", *order, *files]) if key in files]


NOT_TEXT = re.compile(r"genindex|search|contents|(?:^|/)index|toc|Index")


@cache
def gold(name: str, root: Path) -> Reading:
    """The text and the headings of a manual's HTML."""
    texts, headings = [], []
    files = html_files(root / name.partition(":")[0], (MANUALS | UNSEEN)[name][1])
    for path in files:
        if len(files) > 1 and NOT_TEXT.search(path.name):
            continue
        html = path.read_bytes()
        extraction = extract(html, f"http://manual.example/{path.name}")
        texts.append(extraction.text)
        headings += [block.text for block in extraction.blocks if block.tag in HEADINGS]
    return Reading("\n".join(texts), tuple(headings))


def pdf_of(name: str, root: Path) -> bytes:
    path = root / name.partition(":")[0] / (MANUALS | UNSEEN)[name][0]
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def paragraphs(text: str) -> Iterator[tuple[str, ...]]:
    """The paragraphs long enough to be judged: lines, or what is between empty lines."""
    lines = re.split(r"\n\s*\n", text) if text.count("\n\n") > text.count("\n") / 20 else text.splitlines()
    for line in lines:
        words = tuple(tokens(line))
        if len(words) >= LEAST_TOKENS:
            yield words


NUMBER = re.compile(r"(?:(?:[Cc]hapter|[Aa]ppendix|第)\s*)?(?:\d{1,3}|[A-Z](?=\.))(?:\.\d+)*[.:章]?\s*")


def keys(headings: Iterable[str]) -> Counter[str]:
    """The letters of headings without their numbers."""
    without_numbers = (NUMBER.sub("", heading, count=1) if NUMBER.match(heading) else heading for heading in headings)
    return Counter(key for heading in without_numbers if (key := "".join(filter(str.isalpha, heading.casefold()))))


def agreement(output_counts: Counter, gold_counts: Counter) -> float:
    precision, recall = precision_recall(output_counts, gold_counts)
    return f1(precision or 0.0, recall or 0.0)


def score(reading: Reading, gold_reading: Reading) -> Scores:
    own, other = tokens(reading.text), tokens(gold_reading.text)
    return Scores(
        agreement(shingles(own), shingles(other)),
        agreement(Counter(own), Counter(other)),
        agreement(Counter(paragraphs(reading.text)), Counter(paragraphs(gold_reading.text))),
        agreement(keys(reading.headings), keys(gold_reading.headings)),
    )


LEFT_OUT = (
    "//nav",
    "//*[@id='toc']",
    "//table[@class='ears']",
    "//*[@id='identifiers']",
    "//*[@class='grey']",
    "//*[@class='noprint']",
    "//*[@class='pilcrow']",
    "//script",
    "//style",
)
"""What the HTML of an RFC has beside its text."""
CONTENTS_LINE = re.compile(r"(?:\. ?){3,}\s*\d+\s*$")
EVERY = 10


def gold_of_rfc(html: bytes) -> tuple[Reading, bool]:
    """The text and the headings of the HTML of an RFC, and whether it has elements for its paragraphs."""
    root = lxml_html.fromstring(html)
    for path in LEFT_OUT:
        for element in root.xpath(path):
            element.drop_tree()
    has_paragraphs = len(root.xpath("//p")) > len(root.xpath("//pre"))
    if not has_paragraphs:
        lines = "\n".join(pre.text_content() for pre in root.xpath("//pre")).splitlines()
        blocks = groupby(
            (line for line in lines if not CONTENTS_LINE.search(line)), key=lambda line: bool(line.strip())
        )
        return Reading("\n\n".join(" ".join(block) for has_text, block in blocks if has_text)), False
    return of_html(lxml_html.tostring(root, encoding="utf-8")), True


def texts(root: Path, part: str = "") -> None:
    """Print how well plain texts are read, beside their HTML."""
    from crawler.contrib.documents.read_document import read_document
    from crawler.page.document import DocumentError
    from crawler.page.document_type import PLAIN_TEXT

    rows: dict[str, list[tuple[float, ...]]] = {}
    texts = (path for path in sorted(root.rglob("*.txt.gz")) if not path.is_symlink())
    files = [path for path in texts if path.with_name(f"{path.name[:-7]}.html.gz").is_file()]
    for path in files[::EVERY]:
        if part not in path.as_posix():
            continue
        html = gzip.decompress(path.with_name(f"{path.name[:-7]}.html.gz").read_bytes())
        gold_reading, has_paragraphs = gold_of_rfc(html)
        start = time.process_time()
        try:
            reading = of_html(read_document(gzip.decompress(path.read_bytes()), PLAIN_TEXT).html.encode())
        except DocumentError:
            reading = Reading("")
        row = (*score(reading, gold_reading), time.process_time() - start)
        rows.setdefault("pages" if has_paragraphs else "lines", []).append(row)
        print(f"{path.name:26}{'pages' if has_paragraphs else 'lines':10}" + "".join(f" {value:6.3f}" for value in row))
    for kind, scores in rows.items():
        means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
        print(f"{f'mean of {len(scores)}':26}{kind:10}" + "".join(f" {value:6.3f}" for value in means))


MARKED = """
const { marked } = require("marked");
const sources = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(sources.map((source) => marked.parse(source))));
"""
SHOWN_BELOW = 0.98
LEAST_WORDS = 50
"""Of a Markdown file that is judged."""


def markdown(root: Path) -> None:
    """Print how well Markdown is read, beside what another program makes of it."""
    from crawler.contrib.documents.read_document import read_document
    from crawler.contrib.lab.evaluation.structure_scores import parts
    from crawler.page.document_type import MARKDOWN

    sys.path.insert(0, str(Path(__file__).parent))
    from strangers_sites.compare import plain_markdown, text_of

    files = [path for path in sorted(root.rglob("*.md")) if path.is_file()]
    sources = {path: path.read_text(encoding="utf-8", errors="replace") for path in files}
    sources = {path: source for path, source in sources.items() if len(tokens(source)) >= LEAST_WORDS}
    run = subprocess.run(
        ["node", "-e", MARKED],
        input=json.dumps(list(sources.values())),
        capture_output=True,
        check=True,
        cwd=root,
        text=True,
    )
    rows = []
    for (path, source), html in zip(sources.items(), json.loads(run.stdout), strict=True):
        start = time.process_time()
        document = read_document(source.encode(), MARKDOWN)
        seconds = time.process_time() - start
        reading, gold_reading = of_html(document.html.encode()), of_html(f"<body>{html}".encode())
        words = agreement(Counter(tokens(reading.text)), Counter(tokens(text_of(parts(plain_markdown(source))))))
        rows.append((*score(reading, gold_reading), words, seconds))
        if rows[-1][0] < SHOWN_BELOW:
            print(f"{path.relative_to(root).as_posix()[-50:]:50}" + "".join(f" {value:6.3f}" for value in rows[-1]))
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print(f"{'':50} {'text':>6} {'words':>6} {'parag.':>6} {'head.':>6} {'source':>6} {'s':>6}")
    print(f"{f'mean of {len(rows)}':50}" + "".join(f" {value:6.3f}" for value in means))


PRINTERS = {"odt": "odt:writer8", "docx": "docx:MS Word 2007 XML", "epub": "epub:EPUB", "pdf": "pdf:writer_pdf_Export"}


def printed(files: list[str]) -> None:
    """Print how well the documents that LibreOffice makes of HTML files are read."""
    from crawler.contrib.documents.read_document import read_document

    with TemporaryDirectory() as folder:
        for path in map(Path, files):
            gold_reading = of_html(path.read_bytes())
            source = path
            for ending, printer in PRINTERS.items():
                more = ["--infilter=HTML (StarWriter)"] if source is path else []
                line = ["soffice", "--headless", *more, "--convert-to", printer, "--outdir", folder, str(source)]
                subprocess.run(line, check=True, capture_output=True)
                source = Path(folder, path.stem + ".odt")
                data = Path(folder, f"{path.stem}.{ending}").read_bytes()
                start = time.process_time()
                reading = of_html(read_document(data).html.encode())
                row = (*score(reading, gold_reading), time.process_time() - start)
                print(f"{path.name:26}{ending:10}" + "".join(f" {value:6.3f}" for value in row), flush=True)


def main(manuals: Iterable[str], root: Path, part: str = "", programs: str = ",".join(PROGRAMS)) -> None:
    sums: dict[str, list[tuple[float, ...]]] = {}
    print(f"{'':26}{'':10} {'text':>6} {'words':>6} {'parag.':>6} {'head.':>6} {'s':>6}")
    for name in manuals:
        if part not in name or not (root / name.partition(":")[0]).is_dir():
            continue
        data, gold_reading = pdf_of(name, root), gold(name, root)
        for program in programs.split(","):
            start = time.process_time() if program != "pdftotext" else time.perf_counter()
            try:
                reading = PROGRAMS[program](data)
            except (ImportError, FileNotFoundError):
                continue
            end = time.process_time() if program != "pdftotext" else time.perf_counter()
            row = (*score(reading, gold_reading), end - start)
            sums.setdefault(program, []).append(row)
            print(f"{name:26}{program:10}" + "".join(f" {value:6.3f}" for value in row), flush=True)
    for program, rows in sums.items():
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        print(f"{'mean':26}{program:10}" + "".join(f" {value:6.3f}" for value in means))


if __name__ == "__main__":
    if sys.argv[1] == "--texts":
        texts(Path(sys.argv[2]), *sys.argv[3:])
    elif sys.argv[1] == "--markdown":
        markdown(Path(sys.argv[2]))
    elif sys.argv[1] == "--printed":
        printed(sys.argv[2:])
    elif sys.argv[1] == "--unseen":
        main(UNSEEN, Path(sys.argv[2]), *sys.argv[3:])
    else:
        main(MANUALS, Path(sys.argv[1]), *sys.argv[2:])
