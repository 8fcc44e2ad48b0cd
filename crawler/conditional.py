"""Requests that ask for a page only if it changed."""

import re
from collections.abc import Mapping

from crawler.state.entries import Known

SAFE = re.compile(r"[\x20-\x7e]{1,1000}")
"""What may stand in a header that we send: a server must not have us send what it likes."""
NOT_MODIFIED = 304
EVERY = 10
"""One check of so many asks for the page whatever the server says, for some say of all pages that they are the same."""


def conditions(known: Known | None, version: str | None) -> Mapping[str, str]:
    """The headers by which a server can say that a page is as it was; none where nothing is known of it.

    Nor are there any where another version of the extraction read it: else that a page is as it was would be told
    until it changes, and then nobody could say that it did.

    >>> conditions(Known(etag='"1"', extractor_version="1:auto"), "1:auto"), conditions(Known(etag='"1"'), "1:auto")
    ({'If-None-Match': '"1"'}, {})
    """
    if known is None or known.gone_count or known.checks % EVERY == EVERY - 1 or known.extractor_version != version:
        return {}
    told = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return {name: value for name, value in told.items() if value and SAFE.fullmatch(value)}
