"""Markdown as HTML, for people who compare it with the original.

No HTML of the page passes through: what looks like it is escaped. Links are left out, and images are their description.
"""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markupsafe import Markup

from crawler.reports.html_page import shown

LEVELS, LOWEST = 2, 6
"""By how much headings are lowered, and to which at most."""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable("table").disable(["link", "autolink"])
    parser.add_render_rule("image", _image)
    return parser


def _image(_: RendererHTML, tokens: list[object], at: int, *__: object) -> str:
    return f'<span class="image">{shown(str(getattr(tokens[at], "content", "")))}</span>'


def markdown_html(text: str) -> Markup:
    """Markdown as HTML, whose headings are below those of a card.

    >>> str(markdown_html("# Bees\\n\\n*Dance* <b>&</b>"))
    '<h3>Bees</h3>\\n<p><em>Dance</em> &lt;b&gt;&amp;&lt;/b&gt;</p>\\n'
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + LEVELS, LOWEST)}"
    html: str = parser.renderer.render(tokens, parser.options, {})
    return Markup(html)  # noqa: S704 - escaped by the parser
