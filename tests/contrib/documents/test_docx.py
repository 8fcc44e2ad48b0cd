"""DOCX files: headings by their styles, lists, tables, links, notes and boxes of text; what is deleted is left out."""

import pytest
from document_files import W, docx, packed, paragraph

from crawler.contrib.documents.read_document import read_document
from crawler.page.document import DocumentError, Facts, Fault

ITEM = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="3"/></w:numPr>'
RUN = "<w:r><w:t>{}</w:t></w:r>"
HIDDEN = "<w:r><w:rPr>{}</w:rPr><w:t>x</w:t></w:r>"
GONE, SHOWN = '<w:rStyle w:val="Gone"/>', '<w:vanish w:val="0"/>'
BOX = "<w:r><w:pict><w:txbxContent>{}</w:txbxContent></w:pict></w:r>"
BOXES = "<p>Outer</p><p>Inner</p>"
DELETED = "<w:del><w:r><w:delText>x</w:delText></w:r></w:del>"
LINK = f'<w:p>See <w:hyperlink r:id="L">{RUN.format("the site")}</w:hyperlink></w:p>'
RELATIONS = '<Relationships><Relationship Id="L" TargetMode="External" Target="{}"/></Relationships>'


def test_a_paragraph_is_what_its_style_says() -> None:
    rows = [
        (paragraph("Bees &lt; ants"), "<p>Bees &lt; ants</p>"),
        (paragraph("Bees", "T"), "<h1>Bees</h1>"),
        (paragraph("Bees", "H1"), "<h1>Bees</h1>"),
        (paragraph("Bees", "Own"), "<h1>Bees</h1>"),
        (paragraph("Bees", "Loop"), "<p>Bees</p>"),
        (paragraph("Bees", "", '<w:outlineLvl w:val="2"/>'), "<h3>Bees</h3>"),
        (paragraph("Bees", "", '<w:outlineLvl w:val="9"/>'), "<p>Bees</p>"),
        (paragraph("Bees 12", "TOC1"), ""),
        (
            paragraph("One", "", ITEM.format(0)) + paragraph("Two", "", ITEM.format(1)) + paragraph("Three"),
            "<ul><li>One<ul><li>Two</li></ul></li></ul><p>Three</p>",
        ),
        (paragraph("By its style", "ListBullet"), "<ul><li>By its style</li></ul>"),
        (paragraph("No item", "ListBullet", '<w:numPr><w:numId w:val="0"/></w:numPr>'), "<p>No item</p>"),
        (f"<w:p>{RUN.format('Be')}{RUN.format('es')}{DELETED}</w:p>", "<p>Bees</p>"),
        (f"<w:p><w:ins>{RUN.format('New')}</w:ins><w:r><w:tab/><w:t>word</w:t></w:r></w:p>", "<p>New\tword</p>"),
        (f"<w:p>{RUN.format('Bees')}{HIDDEN.format('<w:vanish/>')}</w:p>", "<p>Bees</p>"),
        (f"<w:p>{HIDDEN.format(GONE)}{RUN.format('Bees')}</w:p>", "<p>Bees</p>"),
        (f"<w:p>{HIDDEN.format(GONE + SHOWN)}</w:p>", "<p>x</p>"),
        (f"<w:tbl><w:tr><w:tc><w:p>{HIDDEN.format('<w:vanish/>')}</w:p></w:tc></w:tr></w:tbl>", ""),
        (paragraph("x", "Gone"), ""),
        (f"<w:sdt><w:sdtContent>{paragraph('In a field')}</w:sdtContent></w:sdt>", "<p>In a field</p>"),
        (
            f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}{paragraph('c')}</w:tc></w:tr></w:tbl>",
            "<table><tr><td>a</td><td>b c</td></tr></table>",
        ),
        (f"<w:tbl><w:tr><w:tc>{paragraph('framed')}</w:tc></w:tr></w:tbl>", "<p>framed</p>"),
        (
            f"<w:p>{RUN.format('Text')}{BOX.format(paragraph('Box'))}</w:p>",
            "<p>Text</p><p>Box</p>",
        ),
        (f"<w:p>{BOX.format(paragraph('Outer') + '<w:p>' + BOX.format(paragraph('Inner')) + '</w:p>')}</w:p>", BOXES),
    ]
    for body, html in rows:
        document = read_document(docx(body + paragraph("End")))
        assert document.body.replace("\n", "") == f"{html}<p>End</p>"


@pytest.mark.parametrize(
    ("target", "html"),
    [
        ("https://a.example/?a=1&amp;b", '<p>See <a href="https://a.example/?a=1&amp;b">the site</a></p>'),
        ("javascript:alert(1)", "<p>See the site</p>"),
    ],
)
def test_links_to_the_web_are_kept(target: str, html: str) -> None:
    body = LINK.replace("See ", RUN.format("See "))
    file = packed(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document {W} xmlns:r="urn:r"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": RELATIONS.format(target),
        }
    )
    assert read_document(file).body == html + "\n"


def test_notes_follow_the_text() -> None:
    line, note = paragraph("-"), paragraph("A note.")
    notes = f'<w:footnote w:type="separator">{line}</w:footnote><w:footnote>{note}</w:footnote>'
    document = read_document(docx(paragraph("Text."), footnotes=f"<w:footnotes {W}>{notes}</w:footnotes>"))
    assert document.body == "<p>Text.</p>\n<p>A note.</p>\n"


def test_what_the_file_says_about_itself() -> None:
    document = read_document(docx(paragraph("Text.")))
    assert document.facts == Facts(
        title="Of bees", author="Ann Smith", published="2020-02-03T04:05:06Z", language="en", pages=3
    )


def test_files_without_text_say_why() -> None:
    rows = [
        (docx(""), Fault.SCANNED),
        (docx("<w:p>"), Fault.BROKEN),
        (packed({"[Content_Types].xml": "<Types/>"}), Fault.BROKEN),
        (docx(paragraph("Text."))[:-30], Fault.BROKEN),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), Fault.ENCRYPTED),
    ]
    for file, fault in rows:
        with pytest.raises(DocumentError) as raised:
            read_document(file)
        assert raised.value.fault is fault
