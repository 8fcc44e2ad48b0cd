"""Markdown is read by its own grammar, without the marks that only generators of manuals read."""

import pytest

from crawler.api.document import clean
from crawler.contrib.documents.text.markdown import MAX_MARKDOWN, MAX_NOTES, read_markdown
from crawler.page.document import Facts


def test_marks_become_elements_or_leave() -> None:
    rows = [
        ("# Bees\n\nThey *dance*.", "<h1>Bees</h1><p>They <em>dance</em>.</p>"),
        ("In [the hive](hive.md).", '<p>In <a href="hive.md">the hive</a>.</p>'),
        ("| a |\n|---|\n| 1 |", "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"),
        ("~~wax~~", "<p><s>wax</s></p>"),
        ("<b>Bees</b> dance.", "<p><b>Bees</b> dance.</p>"),
        ("## Bees {#dance}", "<h2>Bees</h2>"),
        ("## Bees {x}", "<h2>Bees {x}</h2>"),
        ("::: tip Mind\nThey sting.\n:::", "<p><strong>Mind</strong></p><p>They sting.</p>"),
        (":::note\nThey sting.\n:::", "<p>They sting.</p>"),
        ('!!! note "Mind"\n    Sting.\n\nRare.', "<p><strong>Mind</strong></p><p>Sting.</p><p>Rare.</p>"),
        ("??? warning\n    They sting.", "<p>They sting.</p>"),
        ("```\n::: tip\n## a {#b}\n!!! x\n```", "<pre><code>::: tip## a {#b}!!! x</code></pre>"),
        ("~~~\n```\n::: a\n~~~\n::: b\nc", "<pre><code>```::: a</code></pre><p>c</p>"),
    ]
    for text, html in rows:
        assert read_markdown(text).body.replace("\n", "") == html


REFERENCE = '<sup><a href="#fn-1">1</a></sup>'


LONG_NOTE = "<p>A <em>long</em>note.</p><p>Two.</p>"


def section(*notes: str) -> str:
    items = [f'<li id="fn-{number}">{note}</li>' for number, note in enumerate(notes, 1)]
    return f'<section class="footnotes"><ol>{"".join(items)}</ol></section>'


def test_footnotes_stand_at_the_end() -> None:
    rows = [
        ("Wax[^1].\n\n[^1]: Note.", f"<p>Wax{REFERENCE}.</p>{section('<p>Note.</p>')}"),
        ("[^a]: A *long*\nnote.\n\n    Two.\n\nWax[^a].", f"<p>Wax{REFERENCE}.</p>{section(LONG_NOTE)}"),
        ("Wax[^1].\n[^1]: One.\n[^2]: Two.", f"<p>Wax{REFERENCE}.</p>{section('<p>One.</p>', '<p>Two.</p>')}"),
        ("Wax[^1].\n\n[1]: wax.md", "<p>Wax[^1].</p>"),
        ("`[^1]`\n\n```\n[^1]: Code.\n```", "<p><code>[^1]</code></p><pre><code>[^1]: Code.</code></pre>"),
        ("    [^1]: Code.", "<pre><code>[^1]: Code.</code></pre>"),
    ]
    for text, html in rows:
        assert read_markdown(text).body.replace("\n", "") == html


def test_more_footnotes_than_a_book_has_are_text() -> None:
    html = read_markdown("".join(f"[^{number}]: Note.\n\n" for number in range(MAX_NOTES + 1))).body
    assert html.count("<li") == MAX_NOTES


def test_footnotes_are_footnotes_in_the_markdown_of_a_page() -> None:
    source = b"# Bees\n\nBees dance in the dark[^1] of the hive.\n\n[^1]: The others follow them."
    assert clean(source, content_type="text/markdown").markdown.endswith(
        "Bees dance in the dark[^1] of the hive.\n\n[^1]: The others follow them."
    )


def test_fields_before_the_text_are_facts() -> None:
    rows = [
        (
            "---\ntitle: Wax\nauthor: A\ndate: 2024-05-02\nlang: en\n---\nText",
            Facts(title="Wax", author="A", published="2024-05-02", language="en"),
        ),
        ('---\ntitle: "Of: bees"\nauthors: ["Ann"]\n---\nText', Facts(title="Of: bees", author="Ann")),
        ('+++\ntitle = "Of bees"\n+++\nText', Facts(title="Of bees")),
        ("---\nsidebar: auto\n---\nText", Facts()),
        ("Text\n\n---\ntitle: no field\n---", Facts()),
    ]
    for text, facts in rows:
        document = read_markdown(text)
        assert document.facts == facts
        assert "<p>Text</p>" in document.body
        assert ("title" in document.body) == (facts == Facts() and "no field" in text)


@pytest.mark.parametrize(
    ("length", "is_cut"),
    [(MAX_MARKDOWN, False), (MAX_MARKDOWN + 1, True)],
)
def test_a_very_long_text_is_cut(length: int, is_cut: bool) -> None:
    assert read_markdown("b" * length).is_cut == is_cut
