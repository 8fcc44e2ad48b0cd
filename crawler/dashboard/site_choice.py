"""Which site of a crawl a visitor means, by its name, a part of it or an address, and between which one may choose."""

from typing import NamedTuple

from sqlalchemy import Connection

from crawler.state.page_list import largest_sites, site_number, sites_like
from crawler.urls.parsing import absolute, site

MOST_SITES = 20
MOST_OFFERED = 50
MOST_LETTERS = 100
"""Of a name that is offered."""


class SiteChoice(NamedTuple):
    """The site that is meant, or those that may be."""

    id: int | None
    """None where it is not one alone."""
    names: tuple[str, ...] = ()
    """Sites whose names hold what was given, where there are several."""
    is_cut: bool = False
    """Whether there are more of them."""


def chosen_site(connection: Connection, crawl_id: int, given: str) -> SiteChoice:
    """The site by its name, by an address of it, or else by a part of its name that no other has."""
    name = given.strip().casefold()
    address = name if "://" in name else f"http://{name}/"
    for known in (name, site(absolute(address, address) or address)):
        if (number := site_number(connection, crawl_id, known)) is not None:
            return SiteChoice(number)
    found = sites_like(connection, crawl_id, name, MOST_SITES + 1) if name else []
    if len(found) == 1:
        return SiteChoice(found[0][0])
    return SiteChoice(None, tuple(one for _, one in found[:MOST_SITES]), len(found) > MOST_SITES)


def offered_sites(connection: Connection, crawl_id: int) -> list[str]:
    """The names of the largest sites, for a visitor to choose from."""
    names = largest_sites(connection, crawl_id, MOST_OFFERED)
    return [name for name in names if len(name) <= MOST_LETTERS and name.isprintable()]
