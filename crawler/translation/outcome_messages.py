"""Outcomes in words: the sentence of each code, for whoever shows them to people."""

from collections.abc import Mapping
from http import HTTPStatus

from crawler.outcomes import Code, Outcome, Outcomes
from crawler.page.image_file import NonImage
from crawler.page.tree import MAX_ATTRIBUTES, MAX_BLOCKS, MAX_LEVELS, MAX_TAGS, Cut
from crawler.translation.message import Message, counted

SENTENCES = {
    Code.LIST: "list of addresses",
    Code.REDIRECTED: "redirect",
    Code.EXAMPLE: "example of the topic",
    Code.COUNTEREXAMPLE: "counterexample",
    Code.NOFOLLOW: "nofollow",
    Code.OUTSIDE_SCOPE: "outside the scope",
    Code.OUTSIDE_ALLOW: "outside allow",
    Code.INSIDE_DENY: "inside deny",
    Code.AVOIDED_DOMAIN: "domain to leave out",
    Code.ADDRESS_TOO_LONG: "address too long",
    Code.PATH_REPEATS: "path repeats itself",
    Code.ROBOTS_FORBIDS: "refused by robots.txt",
    Code.ROBOTS_UNREADABLE: "robots.txt cannot be read: {why}",
    Code.CRAWL_DELAY_TOO_LONG: "robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT",
    Code.HOST_CLOSED: "site asked to be left alone",
    Code.SITE_BUDGET_SPENT: "page budget of the site is spent",
    Code.NOT_PUBLIC: "address is not public",
    Code.REFUSED: "{message}",
    Code.NOISE: "{model}",
    Code.REDIRECT_REFUSED: "redirected: {why}",
    Code.REDIRECT_TO_KNOWN: "redirected to a page already known",
    Code.REDIRECT_TO_NOTHING: "redirected to no web address",
    Code.REFRESHED: "sent on by the page",
    Code.NOT_HTML: "not HTML: {type}",
    Code.NOT_WHOLE: "not a whole page: {status}",
    Code.NOT_A_PICTURE: "not a picture: {content}",
    Code.PICTURE_TOO_SMALL: "picture smaller than the limit",
    Code.EMPTY_LIST: "no address in it",
    Code.EMPTY_EXAMPLE: "no text in it",
    Code.NOINDEX: "noindex",
    Code.OFF_TOPIC: "off topic: relevance under min_relevance",
    Code.LANGUAGE: "language: {language}",
    Code.DROPPED: "dropped",
    Code.LINKS_CUT: "links beyond the limit of a page",
    Code.PICTURES_CUT: "pictures beyond the limit of a page",
    Code.PAGE_CUT: "rest of a page {at}",
    Code.LIST_CUT: "rest of a sitemap larger than the limit",
    Code.NO_RESPONSE: "WARC record: {kind}",
    Code.NO_HTML_NAME: "file without a name of HTML",
    Code.NOT_A_FILE: "no file",
    Code.LINK_NOT_FOLLOWED: "link out of the folder or to a folder",
    Code.NOT_ASKED_FOR: "page that nobody asks for",
    Code.HTTP_STATUS: "{status}",
    Code.HOST_NOT_FOUND: "host name not found",
    Code.BAD_HOST_NAME: "not a valid host name",
    Code.CONNECTION_REFUSED: "connection refused",
    Code.CONNECTION_LOST: "connection lost",
    Code.TLS_REFUSED: "TLS certificate or handshake refused",
    Code.TIMEOUT: "no answer in time",
    Code.ANSWER_CUT: "answer cut short",
    Code.BODY_TOO_LARGE: "body larger than the limit",
    Code.TOO_MANY_REDIRECTS: "redirected too often",
    Code.NEVER_ENDED: "given up, it never came to an end",
    Code.WORKERS_CRASHED: "workers crashed repeatedly",
    Code.CRAWLER_ERROR: "error in the crawler, see the log",
    Code.ERROR: "{type}",
    Code.OTHER_REASONS: "other reasons",
    Code.OTHER_FAILURES: "other reasons",
}
NOTHING_GIVEN = {
    Code.NOT_HTML: "no type given",
    Code.LANGUAGE: "unknown",
    Code.NO_RESPONSE: "no type",
}
"""What stands for a parameter that is empty."""
CUTS = {
    Cut.TAGS: Message("after {tags} tags or {attributes} attributes", {"tags": MAX_TAGS, "attributes": MAX_ATTRIBUTES}),
    Cut.DEPTH: Message("after {levels} elements in each other", {"levels": MAX_LEVELS}),
    Cut.BLOCKS: Message("after {blocks} lines", {"blocks": MAX_BLOCKS}),
}
CONTENTS = {
    NonImage.SVG: "SVG, which may hold scripts",
    NonImage.HTML: "a web page",
    NonImage.UNKNOWN: "of no known type",
    NonImage.EMPTY: "empty",
}
MOST_NAMED = 10
"""Outcomes that are named in one line."""
MODELS = {"learned": "learned model", "filter_list": "filter list"}
"""The models that judge pictures, where their names are not the words for them."""


def message(outcome: Outcome) -> Message:
    """An outcome as a sentence.

    >>> str(message(Outcome(Code.NOT_HTML, "image/png"))), str(message(Outcome(Code.HTTP_STATUS, "404")))
    ('not HTML: image/png', '404 Not Found')
    >>> str(message(Outcome(Code.ROBOTS_UNREADABLE, "http_status/503")))
    'robots.txt cannot be read: 503 Service Unavailable'
    """
    code, detail = outcome
    return Message(SENTENCES[code], {code.parameter: _value(code, detail)} if code.parameter else {})


def ranked(outcomes: Outcomes, most: int = MOST_NAMED) -> str:
    """The most frequent outcomes in words with their counts, and how many others there are if there are several.

    >>> found = {Outcome(Code.NOINDEX): 2, Outcome(Code.NOT_HTML, "a/b"): 3_000, Outcome(Code.NOFOLLOW): 1}
    >>> ranked(Outcomes({**found, Outcome(Code.DROPPED): 1}), 2)
    'not HTML: a/b (3,000), noindex (2), 2 other reasons (2)'
    >>> ranked(Outcomes(found), 2)
    'not HTML: a/b (3,000), noindex (2), nofollow (1)'
    """
    ordered = sorted(outcomes.items(), key=lambda one: (-one[1], one[0]))
    most += len(ordered) == most + 1
    said = [f"{message(outcome)} ({count:,})" for outcome, count in ordered[:most]]
    if rest := ordered[most:]:
        said.append(f"{counted(len(rest), 'other reason')} ({sum(count for _, count in rest):,})")
    return ", ".join(said)


def _value(code: Code, detail: str) -> object:
    """The value of a parameter as people read it; a message where it has words of its own."""
    if not detail:
        return Message(NOTHING_GIVEN.get(code, "unknown"))
    match code.parameter:
        case "status":
            return _status(detail)
        case "why":
            return message(Outcome.of(detail))
        case "at":
            return CUTS[Cut(detail)]
        case "content":
            return _status(detail) if detail.isdigit() else Message(CONTENTS[NonImage(detail)])
        case "model":
            return Message(MODELS.get(detail, detail))
    return detail


def _status(code: str) -> str:
    phrases: Mapping[int, str] = {status.value: status.phrase for status in HTTPStatus}
    return f"{code} {phrases.get(int(code), '')}".rstrip()
