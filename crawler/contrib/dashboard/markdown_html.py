"""Renders Markdown as HTML, for people who compare it with the original.

HTML in the Markdown is escaped, links are removed, and images are replaced by their descriptions.
"""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markupsafe import Markup

from crawler.reports.html_page import escaped

LOWERED_LEVELS = 2
"""Levels by which headings are lowered, as pages of the dashboard have two levels of headings above them."""
LOWEST_LEVEL = 6


@cache
def _parser() -> MarkdownIt:
    """The parser, which reads no links."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable("table").disable(["link", "autolink"])
    parser.add_render_rule("image", _image)
    return parser


def _image(_: RendererHTML, tokens: list[object], at: int, *__: object) -> str:
    return f'<span class="image">{escaped(str(getattr(tokens[at], "content", "")))}</span>'


def markdown_html(text: str) -> Markup:
    """The HTML of Markdown, with headings below the heading of a card.

    >>> str(markdown_html("# Bees\\n\\n*Dance* <b>&</b>"))
    '<h3>Bees</h3>\\n<p><em>Dance</em> &lt;b&gt;&amp;&lt;/b&gt;</p>\\n'
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + LOWERED_LEVELS, LOWEST_LEVEL)}"
    html: str = parser.renderer.render(tokens, parser.options, {})
    return Markup(html)  # noqa: S704 - escaped by the parser
