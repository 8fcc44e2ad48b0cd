"""Documents made for tests: PDF files drawn by reportlab, and DOCX, ODT and EPUB files put together by hand."""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

SANS, BOLD, MONO, SONG = "Helvetica", "Helvetica-Bold", "Courier", "STSong-Light"
HEIGHT = 842


class Text(NamedTuple):
    """Lines drawn below each other; `y` is the distance of the first one from the top of the page."""

    lines: Sequence[str]
    x: float = 72
    y: float = 72
    size: float = 10
    font: str = SANS
    leading: float = 12


def pdf(*pages: Sequence[Text], info: Mapping[str, str] | None = None, **options: Any) -> bytes:
    """A PDF file of these pages; `outline` has the titles of its outline by page, `password` encrypts it,
    `links` are addresses to which the first line of the first page leads.
    """
    pdfmetrics.registerFont(UnicodeCIDFont(SONG))
    password, outline = options.get("password"), options.get("outline", {})
    encryption = StandardEncryption(password) if password else None
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(595, HEIGHT), encrypt=encryption, invariant=True)
    for name, value in (info or {}).items():
        getattr(canvas, f"set{name}")(value)
    for number, texts in enumerate(pages):
        canvas.setPageRotation(options.get("rotation", 0))
        for level, title in outline.get(number, ()):
            key = f"{number} {title}"
            canvas.bookmarkPage(key)
            canvas.addOutlineEntry(title, key, level)
        canvas.rect(20, 20, 30, 10)
        for address in options.get("links", ()) if not number else ():
            canvas.linkURL(address, (70, HEIGHT - 74, 400, HEIGHT - 62))
        for text in texts:
            canvas.setFont(text.font, text.size)
            for at, line in enumerate(text.lines):
                canvas.drawString(text.x, HEIGHT - text.y - at * text.leading, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def packed(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
STYLES = (
    f"<w:styles {W}>"
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="My own"/><w:basedOn w:val="Between"/></w:style>'
    '<w:style w:styleId="Between"><w:name w:val="Between"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>'
    '<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
    "</w:styles>"
)
CORE = (
    '<c:coreProperties xmlns:c="a" xmlns:dc="b" xmlns:t="d"><dc:title>Of bees</dc:title>'
    "<dc:creator>Ann Smith</dc:creator><t:created>2020-02-03T04:05:06Z</t:created>"
    "<dc:language>en</dc:language></c:coreProperties>"
)


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """A paragraph of a DOCX file."""
    said = (f'<w:pStyle w:val="{style}"/>' if style else "") + properties
    return f"<w:p><w:pPr>{said}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, **files: str) -> bytes:
    """A DOCX file with this body; further files of it by their names in `word`, without their ending."""
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": STYLES,
            "docProps/core.xml": CORE,
            "docProps/app.xml": "<Properties><Pages>3</Pages></Properties>",
        }
        | {f"word/{name}.xml": content for name, content in files.items()}
    )


NAMES = (
    'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:style="urn:s" xmlns:xlink="urn:x" '
    'xmlns:dc="urn:d" xmlns:meta="urn:m" xmlns:draw="urn:w"'
)


def odt(body: str, **files: str) -> bytes:
    """An ODT file with this text; further files of it by their names without their ending."""
    meta = (
        f"<office:document-meta {NAMES}><office:meta><dc:title>Of bees</dc:title>"
        "<meta:initial-creator>Ann Smith</meta:initial-creator>"
        "<meta:creation-date>2020-02-03T04:05:06</meta:creation-date>"
        '<meta:document-statistic meta:page-count="3"/></office:meta></office:document-meta>'
    )
    styles = (
        '<style:style style:name="P1" style:parent-style-name="Title"/>'
        '<style:style style:name="Gone"><style:text-properties text:display="none"/></style:style>'
    )
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {NAMES}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
            "meta.xml": meta,
        }
        | {f"{name}.xml": content for name, content in files.items()}
    )


XHTML = "application/xhtml+xml"


def epub(*chapters: str, more: Mapping[str, str] | None = None) -> bytes:
    """An EPUB file of these chapters, which are bodies of XHTML, after a table of contents."""
    items = "".join(f'<item id="c{at}" href="c%20{at}.xhtml" media-type="{XHTML}"/>' for at in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    opf = (
        '<package xmlns="urn:p" xmlns:dc="urn:d"><metadata><dc:title>Of bees</dc:title>'
        "<dc:creator>Ann Smith</dc:creator><dc:creator>Bo Li</dc:creator><dc:date>2020-02-03</dc:date>"
        "<dc:language>en</dc:language></metadata>"
        f'<manifest><item id="n" href="nav.xhtml" properties="nav" media-type="{XHTML}"/>{items}</manifest>'
        f'<spine><itemref idref="n"/>{spine}</spine></package>'
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{}</body></html>'
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="O/book.opf"/></container>',
            "O/book.opf": opf,
            "O/nav.xhtml": page.format("<nav>Contents</nav>"),
        }
        | {f"O/c {at}.xhtml": page.format(chapter) for at, chapter in enumerate(chapters)}
        | dict(more or {})
    )


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


def directory(entries: int) -> bytes:
    """A ZIP archive with so many entries in its directory, all of which are the same empty file."""
    name = b"word/document.xml"
    zeros = bytes(24)
    local = b"PK\x03\x04" + zeros[:22] + len(name).to_bytes(2, "little") + zeros[:2] + name
    entry = b"PK\x01\x02" + zeros + len(name).to_bytes(2, "little") + zeros[:16] + name
    size, start = (number.to_bytes(4, "little") for number in (len(entry) * entries, len(local)))
    return local + entry * entries + b"PK\x05\x06" + zeros[:8] + size + start + zeros[:2]


def slow_pdf() -> bytes:
    """A page of so many words that reading it takes some seconds."""
    words = b"".join(b"(bees) Tj 1 0 0 1 %d %d Tm " % (at % 60 * 10, 700 - at // 60 % 700) for at in range(200_000))
    return one_page(b"BT /F 1 Tf 1 0 0 1 7 700 Tm " + words + b"ET")
