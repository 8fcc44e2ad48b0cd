"""EPUB files: the chapters in the order of the spine, without what belongs to their looks."""

import pytest
from document_files import epub

from crawler.contrib.documents.read_document import read_document
from crawler.page.document import DocumentError, Facts, Fault


def test_chapters_keep_their_structure_alone() -> None:
    rows = [
        ("<h2 class='x' id='a'>Bees</h2><p>Text.</p>", "<h2>Bees</h2><p>Text.</p>"),
        ("<p>a<script>x()</script>b<svg><text>y</text></svg>c</p>", "<p>abc</p>"),
        ("<ol start='3'><li>One</li></ol>", '<ol start="3"><li>One</li></ol>'),
        (
            "<p><a href='https://a.example/'>out</a><a href='c%201.xhtml#x'>in</a></p>",
            '<p><a href="https://a.example/">out</a><a>in</a></p>',
        ),
        ("<p>a<span hidden=''>x</span>b</p><div style='color:red; Display: none'><p>y</p></div>", "<p>ab</p>"),
        ("<p style='display: block'>Bees</p>", "<p>Bees</p>"),
        ("<p onclick='x()'><img src='a.png'/>Bees &amp; ants</p>", "<p>Bees &amp; ants</p>"),
    ]
    for chapter, html in rows:
        document = read_document(epub(chapter, "<p>End</p>"))
        assert document.body.replace("\n", "") == f"{html}<p>End</p>"


def test_what_the_file_says_about_itself() -> None:
    facts = read_document(epub("<p>Text.</p>")).facts
    assert facts == Facts(title="Of bees", author="Ann Smith; Bo Li", published="2020-02-03", language="en", pages=None)


@pytest.mark.parametrize(("name", "fault"), [("O/c 0.xhtml", Fault.ENCRYPTED), ("O/font.otf", None)])
def test_encrypted_chapters_say_so_and_fonts_do_not_matter(name: str, fault: Fault | None) -> None:
    encryption = f'<encryption><EncryptedData><CipherReference URI="{name}"/></EncryptedData></encryption>'
    file = epub("<p>Text.</p>", more={"META-INF/encryption.xml": encryption})
    if fault is None:
        assert read_document(file).body == "<p>Text.</p>\n"
        return
    with pytest.raises(DocumentError) as raised:
        read_document(file)
    assert raised.value.fault is fault


def test_a_book_whose_chapters_are_missing_is_broken() -> None:
    with pytest.raises(DocumentError) as raised:
        read_document(epub())
    assert raised.value.fault is Fault.BROKEN
