"""Text files: which are texts for readers, in which encoding, and what is around a book."""

import pytest

from crawler.contrib.documents.read_document import read_document
from crawler.page.document import DocumentError, Facts, Fault
from crawler.page.document_type import MARKDOWN, PLAIN_TEXT

BEES = "Bees dance in the dark of the hive, and the others follow them to the flowers."
CHINESE = "蜜蜂在黑暗的蜂巢里跳舞，其他的蜜蜂跟着它飞到花丛中去。"
BOOK_START = "*** START OF THE PROJECT GUTENBERG EBOOK OF BEES ***"
BOOK = f"""\
The Project Gutenberg eBook of Bees

This eBook is for the use of anyone anywhere.

Title: Of Bees

Author: Ann Smith

Release date: May 2, 2004 [eBook #999]

{BOOK_START}




OF BEES




CHAPTER I.


{BEES}

*** END OF THE PROJECT GUTENBERG EBOOK OF BEES ***

Licence
"""


def test_the_encoding_is_that_of_the_bytes() -> None:
    rows = [
        (CHINESE.encode(), PLAIN_TEXT),
        (CHINESE.encode("gb18030"), PLAIN_TEXT),
        (CHINESE.encode("gb18030"), f"{PLAIN_TEXT}; charset=gbk"),
        (CHINESE.encode("utf-16"), PLAIN_TEXT),
        (CHINESE.encode("gb18030"), f"{MARKDOWN}; charset=gbk"),
    ]
    for data, content_type in rows:
        document = read_document(data, content_type)
        assert document.body == f"<p>{CHINESE}</p>\n"
        assert document.media_type == content_type.partition(";")[0]


def test_what_is_no_text_is_a_fault() -> None:
    rows = [
        (b"\x00\x01\x02bees" * 100, Fault.BROKEN),
        (b"<!DOCTYPE html><p>Bees dance in the dark of the hive.", Fault.BROKEN),
        (b"x = {1: [2, 3]}\ny = x[1][0] + 2\n", Fault.NO_SENTENCES),
        (b" \n\n", Fault.NO_SENTENCES),
        (b"", Fault.NO_SENTENCES),
    ]
    for data, fault in rows:
        with pytest.raises(DocumentError) as error:
            read_document(data, PLAIN_TEXT)
        assert error.value.fault is fault


@pytest.mark.parametrize("start", [BOOK_START, "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"])
def test_a_book_loses_what_its_publisher_puts_around_it(start: str) -> None:
    text = BOOK.replace(BOOK_START, start)
    document = read_document(text.encode(), PLAIN_TEXT)
    assert document.body == f"<h2>OF BEES</h2>\n<h2>CHAPTER I.</h2>\n<p>{BEES}</p>\n"
    assert document.facts == Facts(title="Of Bees", author="Ann Smith", published="2004-05-02")
