"""Plain text as a reader sees it: paragraphs are joined, figures keep their lines, and running lines leave."""

import re
from html import escape

import pytest

from crawler.contrib.documents.read_document import read_document
from crawler.contrib.documents.text.plain_text import is_for_readers, parts_of
from crawler.page.document_type import PLAIN_TEXT

DANCE = """\
Bees that come home with nectar dance in the dark of the hive, and the
others follow them with their antennae until they know where the flowers
are and how far they have to fly."""
JOINED = " ".join(DANCE.splitlines())
INDENTED = f"   {DANCE}".replace("\n", "\n   ")
VERSES = """\
The bee that gathers all day long
In meadows far and near
Comes home at night and sings a song
That only flowers hear"""
MODERN_VERSES = """\
The hive is dark, the hive is warm,
and in the dark they dance
of clover by the river farm
and of the sun's advance."""
NARROW = """\
Bees that come home with nectar
dance in the dark of the hive,
and the others follow them with
their antennae."""
FIGURE = """\
    +-------+        +--------+
    | queen | -----> | worker |
    +-------+        +--------+"""
CODE = """\
    for bee in hive:
        bee.dance()
        print(bee)"""
TABLE = """\
    queen      1       4 years
    worker     40,000  6 weeks
    drone      500     8 weeks"""

CHINESE = "蜜蜂在黑暗的蜂巢里跳舞，其他的蜜蜂\n跟着它飞到花丛中去采集花蜜，然后再\n回家。"
CONTENTS = "1. Bees\n2. Wax\n3. Ants\n"
ORDERED = '<ol><li value="1">wax,</li><li value="2">honey.</li></ol>'
NESTED = '<ol><li value="1">Bees<ul><li>wax</li></ul></li><li value="2">Ants</li></ol>'
LINKED = "http://a.example/?b=1&amp;c"
BOLD = "B\x08Be\x08ee\x08es\x08s"


def html_of(text: str) -> str:
    return re.sub(r"(?<=>)\n|\n(?=<)", "", read_document(text.encode(), PLAIN_TEXT).body)


def test_a_block_is_what_its_lines_show() -> None:
    rows = [
        (DANCE, f"<p>{JOINED}</p>"),
        (f"{DANCE}\n\n\n{DANCE}", f"<p>{JOINED}</p><p>{JOINED}</p>"),
        (DANCE.replace("\n", "\r\n"), f"<p>{JOINED}</p>"),
        (INDENTED, f"<p>{JOINED}</p>"),
        (f"    {DANCE}", f"<p>{JOINED}</p>"),
        ("\u3000\u3000蜜蜂跳舞。\n\u3000\u3000其他的蜜蜂飞走了。", "<p>蜜蜂跳舞。</p><p>其他的蜜蜂飞走了。</p>"),
        ("\u3000\u3000蜜蜂跳舞。\n蜜蜂的舞蹈", "<p>蜜蜂跳舞。</p><p>蜜蜂的舞蹈</p>"),
        ("蜜蜂的舞蹈\n\u3000\u3000蜜蜂跳舞。", "<p>蜜蜂的舞蹈</p><p>蜜蜂跳舞。</p>"),
        (f"\u3000\u3000{CHINESE}\n\u3000\u3000是。", f"<p>{CHINESE.replace(chr(10), '')}</p><p>是。</p>"),
        (CHINESE, f"<p>{CHINESE.replace(chr(10), '')}</p>"),
        (f"{DANCE[:-1]} to the well-\nknown flowers.", f"<p>{JOINED[:-1]} to the well-known flowers.</p>"),
        (VERSES, f"<pre>{VERSES}</pre>"),
        (VERSES.lower(), f"<pre>{VERSES.lower()}</pre>"),
        ("bees dance\nin the dark\nof the hive", "<pre>bees dance\nin the dark\nof the hive</pre>"),
        (MODERN_VERSES, f"<pre>{escape(MODERN_VERSES)}</pre>"),
        (NARROW, f"<p>{' '.join(NARROW.splitlines())}</p>"),
        ("Of bees\n=======\n\nBees dance.", "<h1>Of bees</h1><p>Bees dance.</p>"),
        ("Of wax\n------\nBees make wax.", "<h2>Of wax</h2><p>Bees make wax.</p>"),
        ("Bees dance.\n\n\nCHAPTER I.\nOf wax\n\nYes.", "<p>Bees dance.</p><h2>CHAPTER I. Of wax</h2><p>Yes.</p>"),
        ("OF WAX\n\nBees make wax.", "<h2>OF WAX</h2><p>Bees make wax.</p>"),
        ("They make wax.\n\n\n\nHoney\n\nAnd honey.", "<p>They make wax.</p><h2>Honey</h2><p>And honey.</p>"),
        ("Bees make\n\n- wax,\n- honey\n  and comb.", "<p>Bees make</p><ul><li>wax,</li><li>honey and comb.</li></ul>"),
        ("Bees make:\n  1. wax,\n  2. honey.", f"<p>Bees make:</p>{ORDERED}"),
        ("1. Bees\n   - wax\n2. Ants\n- Wasps", f"{NESTED}<ul><li>Wasps</li></ul>"),
        ("3) Bees\n4) Wax", "<ul><li>3) Bees</li><li>4) Wax</li></ul>"),
        ("* Bees\n   * Queens\n* Ants", "<ul><li>Bees<ul><li>Queens</li></ul></li><li>Ants</li></ul>"),
        ("Ann wrote:\n> Do they?\nYes.", "<p>Ann wrote:</p><blockquote><p>Do they?</p></blockquote><p>Yes.</p>"),
        (">> Who asks?", "<blockquote><blockquote><p>Who asks?</p></blockquote></blockquote>"),
        ("Bees dance.\n\n* * *\n\nThey do.", "<p>Bees dance.</p><p>They do.</p>"),
        ("See http://a.example/?b=1&c. So it is.", f'<p>See <a href="{LINKED}">{LINKED}</a>. So it is.</p>'),
        ("Bees <b> dance & sing.", "<p>Bees &lt;b&gt; dance &amp; sing.</p>"),
        (f"{BOLD}\n\nThey d\x08dance in the dark.", "<h2>Bees</h2><p>They dance in the dark.</p>"),
        ("\ufeffBees dance.\n\n", "<p>Bees dance.</p>"),
    ]
    for text, html in rows:
        assert html_of(text) == html


RULE = "-" * 40
STARS = "*" * 25
ASKED = "IMPORTANT: do not open it"
BOX = "********\n*      *\n* BEES *\n*      *\n********"


def test_rules_leave_and_frames_are_no_headings() -> None:
    rows = [
        (f"{STARS}\n{ASKED}\n{STARS}\n\n{JOINED}\n\n{STARS}", f"<h1>{ASKED}</h1><p>{JOINED}</p>"),
        (f"Yes.\n\n{RULE}\n$ git log\n{RULE}\n\n{JOINED}", f"<p>Yes.</p><pre>$ git log</pre><p>{JOINED}</p>"),
        (f"A dance.\n\n{RULE}\nmake all\n{RULE}\n\nYes.", "<p>A dance.</p><pre>make all</pre><p>Yes.</p>"),
        (f"Look:\n\n{RULE}\n$ ls\n\n  file.c\n{RULE}", "<p>Look:</p><pre>$ ls\n\n  file.c</pre>"),
        (f"{JOINED}\n\n+\n{RULE}\n$ ls -l\n{RULE}", f"<p>{JOINED}</p><pre>$ ls -l</pre>"),
        (f"Of wax\n======\n\n{RULE}\nIt is made.\n{RULE}", "<h1>Of wax</h1><p>It is made.</p>"),
        ("Of wax\n======\n\n-------\nOf bees\n-------\nYes.", "<h1>Of wax</h1><h2>Of bees</h2><p>Yes.</p>"),
        ("Of wax\n======\n\n########\nBees and wasps\n########", "<h1>Of wax</h1><h2>Bees and wasps</h2>"),
        (f"Of wax\n======\n\n{RULE}\n{'Bees':>22}\n{RULE}\n\nYes.", "<h1>Of wax</h1><h2>Bees</h2><p>Yes.</p>"),
        (f"{RULE}\nBees dance.\n\n{RULE}\nBees sing.", "<p>Bees dance.</p><p>Bees sing.</p>"),
        (f"{RULE}\n- wax\n- comb\n{RULE}", "<ul><li>wax</li><li>comb</li></ul>"),
        (f"{DANCE}\n     __________", f"<p>{JOINED}</p>"),
        (f"1. Bees\n   Dance.\n2. Wax\n   {RULE}", '<ol><li value="1">Bees Dance.</li><li value="2">Wax</li></ol>'),
        (f"{JOINED}\n\n{BOX}", f"<p>{JOINED}</p><pre>{BOX}</pre>"),
        (f"“Bees dance” at home\n\n{INDENTED}", f"<h2>“Bees dance” at home</h2><p>{JOINED}</p>"),
    ]
    for text, html in rows:
        assert html_of(text) == html


@pytest.mark.parametrize("listing", [FIGURE, CODE, TABLE])
def test_figures_code_and_tables_keep_their_lines(listing: str) -> None:
    bare = "\n".join(line[4:] for line in listing.splitlines())
    document = read_document(f"{DANCE}\n\n{listing}\n\n{DANCE}".encode(), PLAIN_TEXT)
    assert document.body.count("<pre>") == 1
    assert f"<pre>{bare.replace('>', '&gt;')}</pre>" in document.body


PAGES = """\
Hive Working Group                                              A. Smith
Request for Comments: 9999                                      May 2024


                       The Dance of the Honey Bee

Abstract

   Bees that come home with nectar dance in the dark of the hive, and
   the others follow them.

Table of Contents

   1.  Introduction . . . . . . . . . . . . . . . . . . . . . . . . .  1
   2.  The Dance  . . . . . . . . . . . . . . . . . . . . . . . . . .  2

1.  Introduction

   This memo says how bees tell each other in the dark where the flowers


Smith                         Informational                     [Page 1]
{break}
RFC 9999                    Dance of the Bee                    May 2024


   are, and how far away they are from the hive that they live in.

2.  The Dance

   They dance.


Smith                         Informational                     [Page 2]
{break}
RFC 9999                    Dance of the Bee                    May 2024


   They do so for hours.


Smith                         Informational                     [Page 3]
"""


@pytest.mark.parametrize("divider", ["\f", ""])
def test_pages_are_joined_without_running_lines_and_contents(divider: str) -> None:
    text = PAGES.replace("{break}", divider)
    html = html_of(text).partition("</pre>")[2]
    assert html == (
        "<h1>The Dance of the Honey Bee</h1><h2>Abstract</h2>"
        "<p>Bees that come home with nectar dance in the dark of the hive, and the others follow them.</p>"
        "<h2>1. Introduction</h2><p>This memo says how bees tell each other in the dark where the flowers are, and how "
        "far away they are from the hive that they live in.</p>"
        "<h2>2. The Dance</h2><p>They dance.</p><p>They do so for hours.</p>"
    )


def test_code_and_data_are_no_texts_for_readers() -> None:
    rows = [
        (DANCE, True),
        (VERSES, True),
        ("蜜蜂在黑暗的蜂巢里跳舞。", True),
        ("Run it:\n\n    make -j4 CFLAGS=-O2\n    ./bees --dance=1\n\n" + f"{DANCE}\n\n" * 2, True),
        (CONTENTS + "".join(f"\n{title}\n\n" + "    x[1] = {2};\n" * 9 for title in CONTENTS.splitlines()), True),
        (f"{CONTENTS}\n" + f"Wax\n---\n\n    x[1] = {{2}};\n\n{RULE}\n$ x\n{RULE}\n\n" * 3, True),
        ("int main(void) {\n    return dance(&bees[0], 3);\n}\n", False),
        ("name,count\nqueen,1\nworker,40000\n", False),
        ('{"bees": [1, 2, 3], "hive": "A-1"}\n', False),
        ('127.0.0.1 - - [02/May/2024:10:00:00] "GET /a HTTP/1.1" 200\n' * 3, False),
    ]
    for text, is_text in rows:
        assert is_for_readers(parts_of(text)) == is_text
