"""Made-up pages with gold text: articles and lists of links, on sites that name their elements alike."""

from itertools import cycle, islice

WORDS = "bees dance dark hive comb honey queen swarm field flower spring winter keeper smoke wax brood".split()
SITES = 6


def sentence(number: int) -> str:
    """A sentence that no other number has."""
    words = islice(cycle(WORDS), number % 16, number % 16 + 9)
    return f"On day {number} the {' '.join(words)} were seen {number * 7} times."


def row(number: int) -> dict[str, str]:
    """A page: every other one an article, else a list."""
    is_article = number // SITES % 2 == 0
    menu = "".join(f'<li class="item"><a href="/{at}">Section {at}</a>' for at in range(6 + number % 3))
    texts = [sentence(100 * number + at) for at in range(3 + number % 4)]
    tag = "p" if is_article else "dd"
    main = "".join(f'<{tag} class="text">{text}</{tag}>' for text in texts)
    links = "".join(f'<div class="more"><a href="/m{at}">More of {WORDS[at]} here</a></div>' for at in range(5))
    return {
        "url": f"http://www{number // SITES}.site{number % SITES}.com/{'story' if is_article else 'list'}/{number}",
        "html": (
            f'<html><head><title>Bees {number}</title></head><body class="{"post" if is_article else "list"}">'
            f'<ul class="menu">{menu}</ul><h1>Bees {number}</h1><div class="content">{main}</div>'
            f'<div class="side">{links}</div><div class="foot">Copyright {number} by all of us</div></body></html>'
        ),
        "gold": "\n".join([f"Bees {number}", *texts]),
        "page_type": "article" if is_article else "listing",
    }


def rows(count: int) -> list[dict[str, str]]:
    """So many pages, of six sites at most, each of several hosts."""
    return [row(number) for number in range(count)]
