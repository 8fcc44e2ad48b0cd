"""PDF files: paragraphs over lines, columns and pages, headings, items, code, tables; running heads are left out."""

import pytest
from document_files import BOLD, MONO, SANS, SONG, Text, pdf

from crawler.contrib.documents.pdf import read_pdf
from crawler.contrib.documents.pdf_lines import MAX_LINKS
from crawler.extraction.document_text import document_text
from crawler.page.document import DocumentError, Facts, Fault
from crawler.page.page import Page

SENTENCE = (
    "Bees live in colonies of many thousands, and each of them has some",
    "work to do. They dance in the dark of the hive, and the others fol-",
    "low them to the flowers.",
)
WHOLE = (
    "<p>Bees live in colonies of many thousands, and each of them has some work to do. They dance in the dark of the "
    "hive, and the others follow them to the flowers.</p>"
)
LEFT = [f"left line {number} of a text that is as wide as its column" for number in range(10)]
RIGHT = [f"right line {number} of a text that is as wide as its column" for number in range(10)]
COLUMNS = f"<p>{' '.join((*LEFT, *RIGHT))}</p>"


def body(*pages: list[Text], **options: object) -> str:
    return read_pdf(pdf(*pages, **options)).body.replace("\n", "")


def test_lines_are_joined_to_paragraphs() -> None:
    rows = [
        ([Text(SENTENCE)], WHOLE),
        ([Text((*SENTENCE, *SENTENCE), leading=12)], WHOLE * 2),
        ([Text(SENTENCE), Text(SENTENCE, y=120)], WHOLE * 2),
        ([Text(("The first one.", "The second one."))], "<p>The first one.</p><p>The second one.</p>"),
        ([Text(SENTENCE), Text(["unseen"], size=0.04, y=200)], WHOLE),
        ([Text(("A and so on", "B & <c>"))], "<p>A and so on</p><p>B &amp; &lt;c&gt;</p>"),
    ]
    for texts, html in rows:
        assert body([*texts, Text(["End."], y=300)]) == f"{html}<p>End.</p>"


def test_paragraphs_that_begin_further_in_are_apart() -> None:
    lines = [
        Text([line], x=84 if number % 3 == 0 else 72, y=72 + 12 * number) for number, line in enumerate(SENTENCE * 2)
    ]
    lines = [
        one._replace(lines=[one.lines[0].replace("flowers.", "flowers of the meadow that lies in the valley.")])
        for one in lines
    ]
    assert body(lines).count("<p>") == 2


def test_words_with_a_hyphen_elsewhere_keep_it() -> None:
    lines = ["The well-known bee is known to each beekeeper of the land, and a well-", "known bee is a bee."]
    assert "a well-known bee is a bee" in body([Text(lines)])


def test_a_hyphen_beyond_the_right_edge_does_not_widen_the_text() -> None:
    """Else the first line would seem to have room for the next word."""
    hanging = ["a bee that dances in the dark of the hive shows the others the way to the flow-", "ers."]
    found = body([Text([SENTENCE[0], "work to do."]), Text(hanging, y=200)])
    assert found.startswith(f"<p>{SENTENCE[0]} work to do.</p>")


def test_a_paragraph_goes_over_the_page_and_heads_and_numbers_are_dropped() -> None:
    pages = [
        [Text(["The book of bees"], y=40), Text([line], y=90), Text([f"- {number} -"], x=280, y=800)]
        for number, line in enumerate(SENTENCE)
    ]
    assert body(*pages) == WHOLE


def test_a_note_at_the_foot_does_not_break_a_paragraph() -> None:
    note = Text(["1 Not all of them."], y=780, size=8)
    assert body([Text(SENTENCE[:2]), note], [Text(SENTENCE[2:])]) == f"{WHOLE}<p>1 Not all of them.</p>"


def test_a_note_below_a_table_is_before_the_next_page() -> None:
    cells = [Text([text], x, 200 + 14 * y) for y in range(3) for x, text in ((72, "Honey bee"), (250, "brown"))]
    note = Text(["1 Not all of them."], y=780, size=8)
    html = body([*cells, note], [Text(SENTENCE)])
    assert html.endswith(f"</table><p>1 Not all of them.</p>{WHOLE}")


@pytest.mark.parametrize("by_rows", [False, True])
def test_columns_are_read_one_after_the_other(by_rows: bool) -> None:
    columns = [Text(LEFT, x=60), Text(RIGHT, x=320)]
    rows = [
        Text([line], column.x, 72 + 12 * at) for at in range(10) for column in columns for line in [column.lines[at]]
    ]
    assert body(rows if by_rows else columns) == COLUMNS


def test_a_column_below_a_title_has_its_own_right_edge() -> None:
    title = Text(["A title that is as wide as both of the columns below it are together"], size=15, y=50)
    halves = [Text(LEFT, x=60, y=80), Text(RIGHT, x=320, y=80)]
    assert body([title, *halves]) == f"<h1>{title.lines[0]}</h1>{COLUMNS}"


def test_lines_are_what_they_look_like() -> None:
    rows = [
        (Text(["Of bees"], size=16), "<h1>Of bees</h1>"),
        (Text(["Of bees and of", "flowers"], size=16, leading=19), "<h1>Of bees and of flowers</h1>"),
        (Text(["2.1 Of bees"], font=BOLD), "<h1>2.1 Of bees</h1>"),
        (Text(["Bees are bold here."], font=BOLD), "<p>Bees are bold here.</p>"),
        (Text(["17"], size=16), "<p>17</p>"),
        (Text(["\x95 One bee", "\x95 Two bees"]), "<ul><li>One bee</li><li>Two bees</li></ul>"),
        (Text(["1. One bee", "2. Two bees"]), "<ul><li>1. One bee</li><li>2. Two bees</li></ul>"),
        (Text(["if bee:", "    dance()"], font=MONO), "<pre>if bee:    dance()</pre>"),
    ]
    for text, html in rows:
        assert body([Text(SENTENCE, y=72), text._replace(y=140), Text(SENTENCE, y=200)]) == WHOLE + html + WHOLE


def test_levels_are_those_of_the_outline_and_labels_are_no_headings() -> None:
    titles = [(at, f"Part {word}") for at, word in enumerate(["one", "two", "three", "four", "five"])]
    page = [Text(["Note"], size=12, y=50 + 150 * at) for at in range(4)]
    page += [Text([title], size=12, y=80 + 150 * at) for at, title in titles]
    page += [Text(SENTENCE, y=110 + 150 * at) for at in range(5)]
    page.sort(key=lambda text: text.y)
    found = body(page, outline={0: [(min(at, 2), title) for at, title in titles]})
    assert [f"<h{level}>Part {word}</h{level}>" in found for level, word in ((1, "one"), (2, "two"), (3, "three"))] == [
        True
    ] * 3
    assert found.count("<p>Note</p>") == 4


def test_cells_below_each_other_are_a_table() -> None:
    rows = [("Name", "Size", "Colour"), ("Honey bee", "12 mm", "brown"), ("Bumblebee", "25 mm", "black")]
    texts = [
        Text([cell], x, 150 + 14 * y) for y, row in enumerate(rows) for x, cell in zip((72, 200, 300), row, strict=True)
    ]
    html = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    assert body([Text(SENTENCE), *texts, Text(SENTENCE, y=250)]) == f"{WHOLE}<table>{html}</table>{WHOLE}"


def test_chinese_lines_are_joined_without_spaces() -> None:
    lines = [
        "蜜蜂生活在由成千上万只蜜蜂组成的蜂群中，每只蜜蜂都有自己的工作。它们在",
        "黑暗的蜂巢中跳舞，其他蜜蜂跟随它们找到花朵。",
    ]
    assert body([Text(lines, font=SONG)]) == f"<p>{''.join(lines)}</p>"


def test_bold_words_that_fill_a_line_do_not_end_a_paragraph() -> None:
    lines = [Text([line], y=72 + 12 * at, font=BOLD if at == 1 else SANS) for at, line in enumerate(SENTENCE)]
    assert body([*lines, Text(SENTENCE, y=200), Text(SENTENCE, y=300)]) == WHOLE * 3


def test_a_table_of_contents_is_left_out() -> None:
    entries = [f"{number} Of bees {'. ' * 40} {number}" for number in range(1, 9)]
    assert body([Text(["Contents"], size=16, y=60), Text(entries, y=90)], [Text(SENTENCE)]) == WHOLE


@pytest.mark.parametrize("rotation", [0, 90])
def test_what_the_file_says_about_itself(rotation: int) -> None:
    file = pdf([Text(SENTENCE)], [], info={"Title": "Of bees", "Author": "Ann"}, rotation=rotation)
    assert read_pdf(file).facts == Facts(title="Of bees", author="Ann", published="2000-01-01", language="", pages=2)


def test_files_without_text_say_why() -> None:
    rows = [
        (pdf([]), Fault.SCANNED),
        (pdf([Text(["7"])], [Text(["8"])]), Fault.SCANNED),
        (pdf([Text(SENTENCE)], password="bees"), Fault.ENCRYPTED),
        (b"%PDF-1.7\nnothing", Fault.BROKEN),
    ]
    for file, fault in rows:
        with pytest.raises(DocumentError) as raised:
            read_pdf(file)
        assert raised.value.fault is fault


def test_a_stamp_on_each_page_is_no_text() -> None:
    pages = [[Text(["Scanned by a machine"], y=810)]] * 3
    with pytest.raises(DocumentError, match=Fault.SCANNED):
        read_pdf(pdf(*pages))


def test_links_to_the_web_are_there_with_their_words_and_add_no_text() -> None:
    lines = Text(["Bees dance in the dark of the hive.", "Ants walk."])
    addresses = ["https://a.example/?a=1&b", "javascript:alert(1)", "file:///etc/passwd", "https://a.example/?a=1&b"]
    document = read_pdf(pdf([lines], links=addresses))
    assert document.body.count("<a ") == 1
    page = Page.from_html(document.html)
    assert [(link.url, link.text, link.title) for link in page.links] == [(addresses[0], "", lines.lines[0])]
    assert document_text(page).text == document_text(Page.from_html(read_pdf(pdf([lines])).html)).text


@pytest.mark.parametrize("over", [0, 1])
def test_the_links_of_a_page_are_limited(over: int) -> None:
    addresses = [f"https://a.example/{number}" for number in range(MAX_LINKS + over)]
    document = read_pdf(pdf([Text(["Bees dance in the dark of the hive."])], links=addresses))
    assert document.body.count("<a ") == MAX_LINKS
    assert document.is_cut == bool(over)
