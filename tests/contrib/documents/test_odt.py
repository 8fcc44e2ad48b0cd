"""ODT files: headings, lists, tables, links, notes and boxes of text; changes and indexes are left out."""

import pytest
from document_files import odt

from crawler.contrib.documents.read_document import read_document
from crawler.page.document import DocumentError, Facts, Fault

LIST = (
    "<text:list><text:list-item><text:p>One</text:p><text:list><text:list-item><text:p>Two</text:p></text:list-item>"
    "</text:list></text:list-item></text:list>"
)
ROW = (
    '<table:table-row><table:table-cell table:number-columns-repeated="1000000"><text:p>a</text:p></table:table-cell>'
    "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>"
)
TABLE = "<table><tr><td>a</td><td>b</td></tr></table>"
OUT, ANCHOR = "it</text:a>.", '<a href="https://a.example/">it</a>.'
GONE = '<text:p text:style-name="Gone">x</text:p>'
BOX = "<text:p>Box</text:p>"


def test_elements_are_read_as_what_they_are() -> None:
    rows = [
        ("<text:p>Bees &lt; ants</text:p>", "<p>Bees &lt; ants</p>"),
        ('<text:h text:outline-level="2">Bees</text:h>', "<h2>Bees</h2>"),
        ('<text:h text:outline-level="99999">Bees</text:h>', "<h1>Bees</h1>"),
        ('<text:p text:style-name="Title">Bees</text:p>', "<h1>Bees</h1>"),
        ('<text:p text:style-name="P1">Bees</text:p>', "<h1>Bees</h1>"),
        ('<text:p>a<text:s text:c="1000000000"/>b<text:tab/>c<text:line-break/>d</text:p>', "<p>a b c<br>d</p>"),
        (LIST, "<ul><li>One<ul><li>Two</li></ul></li></ul>"),
        (f"<table:table><table:table-header-rows>{ROW}</table:table-header-rows></table:table>", TABLE),
        (f'<text:p>See <text:a xlink:href="https://a.example/">{OUT}</text:p>', f"<p>See {ANCHOR}</p>"),
        ('<text:p>See <text:a xlink:href="../x.odt">it</text:a>.</text:p>', "<p>See it.</p>"),
        (f"<text:p>a<draw:frame><draw:text-box>{BOX}</draw:text-box></draw:frame></text:p>", "<p>a</p><p>Box</p>"),
        ("<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>", ""),
        ("<text:table-of-content><text:p>Bees 12</text:p></text:table-of-content>", ""),
        ("<text:section><text:p>Bees</text:p></text:section>", "<p>Bees</p>"),
        ('<text:section text:display="none"><text:p>x</text:p></text:section>', ""),
        (GONE, ""),
        (f"<table:table>{ROW.replace('</table:table-cell>', f'{GONE}</table:table-cell>', 1)}</table:table>", TABLE),
        (f"<text:list><text:list-item>{GONE}</text:list-item></text:list>", ""),
        ('<text:p>Be<text:span text:style-name="Gone">x</text:span>es</text:p>', "<p>Bees</p>"),
    ]
    for body, html in rows:
        document = read_document(odt(f"{body}<text:p>End</text:p>"))
        assert document.body.replace("\n", "") == f"{html}<p>End</p>"


def test_notes_follow_the_text() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body>"
    )
    document = read_document(odt(f"<text:p>Text{note}</text:note>.</text:p><text:p>More.</text:p>"))
    assert document.body == "<p>Text.</p>\n<p>More.</p>\n<p>A note.</p>\n"


def test_what_the_file_says_about_itself() -> None:
    facts = read_document(odt("<text:p>Text.</text:p>")).facts
    assert facts == Facts(title="Of bees", author="Ann Smith", published="2020-02-03T04:05:06", language="", pages=3)


def test_encrypted_files_say_so() -> None:
    manifest = {"META-INF/manifest": "<manifest><file-entry><encryption-data/></file-entry></manifest>"}
    with pytest.raises(DocumentError) as raised:
        read_document(odt("<text:p>Text.</text:p>", **manifest))
    assert raised.value.fault is Fault.ENCRYPTED
