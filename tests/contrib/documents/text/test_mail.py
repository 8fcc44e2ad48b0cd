"""Mail as servers keep it: headers are told from text, and archives are cut into their messages."""

from dataclasses import replace

import pytest

from crawler.contrib.documents.read_document import read_document
from crawler.contrib.documents.text.mail import Letter, common_subject, letters_of
from crawler.page.document import Facts
from crawler.page.document_type import PLAIN_TEXT

HEAD = "From: Ann Smith <ann@bees.example>\nSubject: Bees\nDate: Thu, 02 May 2024 10:00:00 +0200\n"
LETTER = Letter("Bees", "Ann Smith", "2024-05-02", "They dance.\n")

LINES = "They dance.\n" * 13

JÜRG = "=?utf-8?q?J=C3=BCrg?="
ENCODED = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable"
IN_BASE64 = 'Content-Type: text/plain; charset="utf-8"\nContent-Transfer-Encoding: base64\n\n6Jyc6JyC'
IN_PARTS = """\
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html

<p>Something else.
--b
Content-Type: text/plain

They dance.

--b--
"""


def test_a_message_is_read_by_its_headers() -> None:
    rows = [
        (f"{HEAD}\nThey dance.\n", [LETTER]),
        (f"{HEAD}\nThey dance.\n".replace("\n", "\r\n"), [LETTER]),
        (f"From ann@bees.example Thu May  2 10:00:00 2024\n{HEAD}\nThey dance.\n", [LETTER]),
        ("From: ann at bees.example (Ann Smith)\nDate: no day\n\nHm.", [Letter("", "Ann Smith", "", "Hm.")]),
        ("From: ann@bees.example\nSubject: =?utf-8?b?6Jyc6JyC?=\n\nHm.", [Letter("蜜蜂", "ann", "", "Hm.")]),
        (f"From: {JÜRG} <j@bees.example>\nSubject: =?x?y?z?=\n  and\n\n", [Letter("=?x?y?z?= and", "Jürg", "", "")]),
        (f"{HEAD}{ENCODED}\n\nThey =\ndance, J=C3=BCrg.", [replace(LETTER, text="They dance, Jürg.")]),
        (f"{HEAD}{IN_PARTS}", [LETTER]),
        (f"{HEAD}{IN_BASE64}", [replace(LETTER, text="蜜蜂")]),
        (f"{HEAD}{IN_BASE64}".replace("utf-8", "idna"), [replace(LETTER, text="蜜蜂")]),
        (f"{HEAD}\nThey dance.\n-- \nAnn Smith\nHive 3\n", [LETTER]),
        (f"{HEAD}{ENCODED}\n\nThey dance.\n--=20\nAnn Smith\n", [LETTER]),
        (f"{HEAD}\nThey dance.\n--\nAnn Smith\n-- \nA list\n", [LETTER]),
        (f"{HEAD}\nA -- \nb.\n-- Ann\n", [replace(LETTER, text="A -- \nb.\n-- Ann\n")]),
        (f"{HEAD}\n-- \n{LINES}", [replace(LETTER, text=f"-- \n{LINES}")]),
        ("Subject: a report\n\nThey dance.", []),
        ("From: here to there\n\nThey dance.", []),
        ("From: the hive\nSubject: bees\nand other things that are no header\n\nThey dance.", []),
    ]
    for text, letters in rows:
        assert letters_of(text) == letters


def test_what_is_too_deep_costs_its_own_message() -> None:
    deep = f"From a 2024\nFrom: {'(' * 5_000}\nDate: b\n\nWax.\n\n"
    letters = letters_of(f"From a 2024\n{HEAD}\nThey dance.\n\n{deep}From a 2024\n{HEAD}\nThey dance.\n")
    # Python before 3.11.4 reads such a head, in which it finds nothing.
    assert [letter for letter in letters if letter.author] == [replace(LETTER, text="They dance.\n\n"), LETTER]


@pytest.mark.parametrize(
    ("subjects", "common"),
    [(("Bees", "Re: Bees"), "Bees"), (("Re: AW: Bees", "Bees"), "Re: AW: Bees"), (("Bees", "Wax"), "")],
)
def test_an_archive_of_one_thread_has_its_subject(subjects: tuple[str, ...], common: str) -> None:
    assert common_subject([Letter(subject, "", "", "") for subject in subjects]) == common


ARCHIVE = f"""\
From ann at bees.example  Thu May  2 10:00:00 2024
{HEAD}
Do they dance?

From bob at bees.example  Fri May  3 10:00:00 2024
From: bob at bees.example (Bob Jones)
Date: Fri, 03 May 2024 10:00:00 +0200
Subject: Re: Bees

> Do they dance?

They do.
From what I know, since 1973
"""


def test_an_archive_has_its_messages_one_below_the_other() -> None:
    document = read_document(ARCHIVE.encode(), PLAIN_TEXT)
    assert document.body.replace("\n", "") == (
        "<h2>Bees</h2><p>Ann Smith, 2024-05-02</p><p>Do they dance?</p>"
        "<h2>Re: Bees</h2><p>Bob Jones, 2024-05-03</p><blockquote><p>Do they dance?</p></blockquote>"
        "<pre>They do.From what I know, since 1973</pre>"
    )
    assert document.facts == Facts(title="Bees", published="2024-05-02")
