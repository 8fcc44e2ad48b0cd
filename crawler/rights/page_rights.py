"""The rights to a page: the statements of its host's files, of its response and of the page itself, taken together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree

from crawler.page.page import Page
from crawler.rights import content_signals, rsl, tdm_reservation, usage_preferences
from crawler.rights.licence import licence
from crawler.rights.owner_marks import marked_parts
from crawler.rights.robots_file import RobotsFile
from crawler.rights.robots_meta import directives
from crawler.rights.rsl import LicenceFile
from crawler.rights.statement import Rights, RightsEvidence, Signal
from crawler.rights.tdm_reservation import TdmFile
from crawler.urls.parsing import absolute

LINK = "Link"
"""The header that may name a licence file."""
HEADERS = (
    usage_preferences.HEADER,
    content_signals.HEADER,
    tdm_reservation.RESERVATION,
    tdm_reservation.POLICY,
    LINK,
)
"""The headers of a response that are read."""
MAX_LICENCES = 3
"""Licence files that a page names and that are read; also the licence files in the page itself that are read."""
MAX_LINK = 20_000
"""Characters of the header `Link` that are read."""
_LINK = re.compile(r"<([^<>]{1,2083})>([^<]{0,500})")
"""An address in the header `Link`, and its parameters."""
NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class SiteFiles:
    """The files that say something about the use of a page: those of its host, and those that the page names."""

    robots: RobotsFile | None = None
    tdm: TdmFile | None = None
    licences: tuple[LicenceFile, ...] = ()
    """The licence files that robots.txt names."""
    of_page: tuple[LicenceFile, ...] = ()
    """The licence files that the page itself or its response names."""

    def evidence(self, url: str) -> list[RightsEvidence]:
        """What the files say about the page at this address."""
        statements: list[RightsEvidence] = []
        if self.robots is not None:
            statements += self.robots.evidence(url)
        if self.tdm is not None:
            statements += self.tdm.evidence(url)
        for file in self.licences:
            statements += file.evidence(url)
        for file in self.of_page:
            statements += file.evidence(url, is_of_page=True)
        return statements

    def has_read(self, url: str) -> bool:
        """Whether the licence file at an address was read."""
        return any(file.url == url for file in (*self.licences, *self.of_page))


NO_FILES = SiteFiles()


def read_rights(page: Page, headers: Mapping[str, str] = NO_HEADERS, site: SiteFiles = NO_FILES) -> Rights:
    """The rights to a page. `headers` are the `HEADERS` in its response, `site` has the files about its use."""
    file_statements = site.evidence(page.url)
    # A header or the page may replace the reservation in the host's tdmrep.json: `reservations` decides that below.
    in_tdm_file = [statement for statement in file_statements if statement.signal is Signal.TDM_RESERVATION]
    statements = [statement for statement in file_statements if statement.signal is not Signal.TDM_RESERVATION]

    # What the headers of the response say.
    says = headers.get(usage_preferences.HEADER)
    if says:
        where = f"header {usage_preferences.HEADER}"
        statements.append(RightsEvidence(Signal.CONTENT_USAGE, where, says, usage_preferences.preferences(says)))
    says = headers.get(content_signals.HEADER)
    if says:
        where = f"header {content_signals.HEADER}"
        statements.append(RightsEvidence(Signal.CONTENT_SIGNAL, where, says, content_signals.signals(says)))

    # What the page says. If it names a licence file that was not read, the evidence is only the file's address.
    statements += tdm_reservation.reservations(headers, page.meta, in_tdm_file)
    statements += directives(page)
    statements += marked_parts(page)
    statements += _statements_in_scripts(page)
    statements += [
        RightsEvidence(Signal.RSL, where, url) for where, url in _licence_files(page, headers) if not site.has_read(url)
    ]
    name, candidates = licence(page)
    return Rights(name, (*statements, *candidates))


def page_rights(page: Page) -> dict[str, Any]:
    """The item field `rights` of a page alone, without its response and the files of its host."""
    return read_rights(page).field("")


def licence_addresses(page: Page, headers: Mapping[str, str]) -> list[str]:
    """The addresses of the licence files that a page and its response name."""
    return list(dict.fromkeys(url for _, url in _licence_files(page, headers)))[:MAX_LICENCES]


def may_name_a_file(body: bytes, headers: Mapping[str, str]) -> bool:
    """Whether a page or its response may name a licence file; the page is not parsed for this."""
    return rsl.RSL_MEDIA_TYPE in headers.get(LINK, "") or rsl.RSL_MEDIA_TYPE.encode() in body


def _licence_files(page: Page, headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The licence files that a page and its response name: where each is named, and its address."""
    for link in _LINK.finditer(headers.get(LINK, "")[:MAX_LINK]):
        address, parameters = link.groups()
        if rsl.RSL_MEDIA_TYPE not in parameters or "license" not in parameters:
            continue
        url = absolute(page.url, address)
        if url:
            yield "header Link", url
    for element in page.metadata_elements("link"):
        if not _is_rsl(element) or "license" not in element.get("rel", "").lower():
            continue
        url = absolute(page.base, element.get("href", ""))
        if url:
            yield "link rel=license", url


def _is_rsl(element: etree._Element) -> bool:
    """Whether a link or script element has the media type of licence files."""
    return element.get("type", "").strip().lower() == rsl.RSL_MEDIA_TYPE


def _statements_in_scripts(page: Page) -> Iterator[RightsEvidence]:
    """The statements of the RSL licence files in the scripts of a page."""
    for script in islice(filter(_is_rsl, page.metadata_elements("script")), MAX_LICENCES):
        text = (script.text or "").encode("utf-8", "replace")
        yield from rsl.read_file(text, f"script {rsl.RSL_MEDIA_TYPE}").evidence(page.url, is_of_page=True)
