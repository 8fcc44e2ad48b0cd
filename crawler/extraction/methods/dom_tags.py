"""DOM tags: the nodes whose tags carry text, narrowed by their attributes.

The "DOM node tag extraction method" of a thesis of 2020 on the automatic extraction of a page's main text, section
2.2.1: the tree is walked, and the nodes whose tags usually carry main text are listed, "<p>, <br>, <h1> ... <h5> and so
on". Then conditions on the attributes are refined, by what is known of the main text, until the list contains nothing
else.

Choices where the thesis gives no details; it names none of the conditions:
- "And so on" means <h6>, <blockquote>, <li> and <pre>. A <br> has no text of its own: its node is the element around
  it.
- A line that consists mostly of links is removed, whatever its tag.
- Nodes are removed if they are in an element named as noise: an element of EDGES, or one with a word of NOISE in its
  class, id, role or itemprop. Names may mislead (a <body class="has-sidebar">): an element with NOISE_SHARE of the text
  is not noise.
- The list is narrowed to the smallest element that is named as main text (<article>, <main>, or a word of CONTENT) and
  still has CONTENT_SHARE of the text. If there is none, the list stays as it is.

What to expect: text directly in a <div> or a <td> has no tag that carries text, and is lost. Readers' comments in <p>
are kept.
"""

import re
from itertools import accumulate, compress

from crawler.metadata.title import headline
from crawler.page.blocks import INLINE, Block
from crawler.page.html_tree import Element, enclosing, spans
from crawler.page.page import Extraction, Page

TEXT_TAGS = frozenset("p h1 h2 h3 h4 h5 h6 blockquote li pre".split())
# Above this share of its characters in links, a line is removed.
LINK_LIMIT = 0.5
NAMES = ("class", "id", "role", "itemprop")
EDGES = frozenset("aside footer form header nav".split())
# Whole words of a name, in which hyphens and underscores separate words.
NOISE = re.compile(
    r"(?<![^\s_-])(?:ads?|advert\w*|aside|banner|breadcrumbs?|consent|cookie\w*|copyright|disclaimer|foot\w*|legal|login"
    r"|masthead|menu\w*|modal|nav\w*|newsletter\w*|overlay|pager|pagination|popular|popup|promo\w*|recommend\w*"
    r"|related\w*|search|share\w*|side-?bar\w*|sign-?up|social\w*|sponsor\w*|subscri\w*|toolbar|trending)(?![^\s_-])",
    re.IGNORECASE,
)
# An element with at least this share of the text is not noise, whatever its name.
NOISE_SHARE = 0.2
CONTENT = re.compile(r"(?<![a-z])(?:article|body|content|entry|main|post|story|text)", re.IGNORECASE)
CONTENT_TAGS = frozenset(("article", "main"))
# The least share of the text that the element of the main text has.
CONTENT_SHARE = 0.7


def text_nodes(page: Page) -> tuple[Block, ...]:
    """The lines whose tags carry text, in page order."""
    breaks = (br.getparent() for br in page.root.iter("br"))
    with_breaks = set(enclosing(breaks, lambda element: element.tag not in INLINE))
    return tuple(
        block
        for block in page.blocks
        if (block.tag in TEXT_TAGS or block.element in with_breaks) and block.linked <= LINK_LIMIT * len(block.text)
    )


def without_noise(nodes: tuple[Block, ...]) -> tuple[Block, ...]:
    """The nodes that are in no element named as noise."""
    share_of_element = shares(nodes)
    noise = enclosing(
        (node.element for node in nodes), lambda element: share_of_element[element] < NOISE_SHARE and is_noise(element)
    )
    return tuple(compress(nodes, (element is None for element in noise)))


def in_content(nodes: tuple[Block, ...]) -> tuple[Block, ...]:
    """The nodes in the smallest element that is named as main text and has most of their text; all nodes if there is
    none.
    """
    large = [(share, element) for element, share in shares(nodes).items() if share >= CONTENT_SHARE]
    named = [(share, element) for share, element in large if is_content(element)]
    if not named:
        return nodes
    _, smallest = min(named, key=lambda pair: pair[0])
    inside = enclosing((node.element for node in nodes), lambda element: element is smallest)
    return tuple(compress(nodes, (element is not None for element in inside)))


def shares(nodes: tuple[Block, ...]) -> dict[Element, float]:
    """For each element with nodes in it, its share of the characters of all nodes."""
    before = [0, *accumulate(len(node.text) for node in nodes)]
    return {element: (before[end] - before[start]) / before[-1] for element, (start, end) in spans(nodes).items()}


def is_noise(element: Element) -> bool:
    """Whether a tag or an attribute names an element as noise."""
    return element.tag in EDGES or NOISE.search(names(element)) is not None


def is_content(element: Element) -> bool:
    """Whether a tag or an attribute names an element as main text."""
    return element.tag in CONTENT_TAGS or CONTENT.search(names(element)) is not None


def names(element: Element) -> str:
    """The names that the author of a page has given to an element.

    >>> from lxml.html import fragment_fromstring
    >>> names(fragment_fromstring('<div id=a class="b c">'))
    'b c a'
    """
    return " ".join(filter(None, map(element.get, NAMES)))


def dom_tags(page: Page) -> Extraction:
    """The main text by the DOM node tag extraction method."""
    nodes = in_content(without_noise(text_nodes(page)))
    return Extraction(text="\n".join(node.text for node in nodes), title=headline(page), blocks=nodes)
