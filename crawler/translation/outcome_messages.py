"""Outcomes in words: the sentence of each code, for whoever shows them to people."""

from http import HTTPStatus

from crawler.outcomes import Code, Outcome, Outcomes
from crawler.page.html_tree import MAX_ATTRIBUTES, MAX_BLOCKS, MAX_LEVELS, MAX_TAGS, Cut
from crawler.page.image_file import NonImage
from crawler.translation.message import N_, Message, plural

SENTENCES = {
    Code.LIST: N_("list of addresses"),
    Code.REDIRECTED: N_("redirect"),
    Code.EXAMPLE: N_("example of the topic"),
    Code.COUNTEREXAMPLE: N_("counterexample"),
    Code.NOFOLLOW: N_("nofollow"),
    Code.OUTSIDE_SCOPE: N_("outside the scope"),
    Code.OUTSIDE_ALLOW: N_("outside allow"),
    Code.INSIDE_DENY: N_("inside deny"),
    Code.AVOIDED_DOMAIN: N_("domain to leave out"),
    Code.ADDRESS_TOO_LONG: N_("address too long"),
    Code.PATH_REPEATS: N_("path repeats itself"),
    Code.ROBOTS_FORBIDS: N_("refused by robots.txt"),
    Code.ROBOTS_UNREADABLE: N_("robots.txt cannot be read: {why}"),
    Code.CRAWL_DELAY_TOO_LONG: N_("robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT"),
    Code.HOST_CLOSED: N_("site asked to be left alone"),
    Code.SITE_BUDGET_SPENT: N_("page budget of the site is spent"),
    Code.NOT_PUBLIC: N_("address is not public"),
    Code.REFUSED: "{message}",
    Code.NOISE: "{model}",
    Code.REDIRECT_REFUSED: N_("redirected: {why}"),
    Code.REDIRECT_TO_KNOWN: N_("redirected to a page already known"),
    Code.REDIRECT_TO_NOTHING: N_("redirected to no web address"),
    Code.REFRESHED: N_("sent on by the page"),
    Code.NOT_HTML: N_("not HTML: {type}"),
    Code.NOT_WHOLE: N_("not a whole page: {status}"),
    Code.NOT_A_PICTURE: N_("not a picture: {content}"),
    Code.PICTURE_TOO_SMALL: N_("picture smaller than the limit"),
    Code.EMPTY_LIST: N_("no address in it"),
    Code.EMPTY_EXAMPLE: N_("no text in it"),
    Code.NOINDEX: N_("noindex"),
    Code.OFF_TOPIC: N_("off topic: relevance under min_relevance"),
    Code.LANGUAGE: N_("language: {language}"),
    Code.DROPPED: N_("dropped"),
    Code.LINKS_CUT: N_("links beyond the limit of a page"),
    Code.PICTURES_CUT: N_("pictures beyond the limit of a page"),
    Code.PAGE_CUT: N_("rest of a page {at}"),
    Code.LIST_CUT: N_("rest of a sitemap larger than the limit"),
    Code.NO_RESPONSE: N_("WARC record: {kind}"),
    Code.NO_HTML_NAME: N_("file without a name of HTML"),
    Code.NOT_A_FILE: N_("no file"),
    Code.LINK_NOT_FOLLOWED: N_("link out of the folder or to a folder"),
    Code.NOT_ASKED_FOR: N_("page that nobody asks for"),
    Code.HTTP_STATUS: "{status}",
    Code.HOST_NOT_FOUND: N_("host name not found"),
    Code.BAD_HOST_NAME: N_("not a valid host name"),
    Code.CONNECTION_REFUSED: N_("connection refused"),
    Code.CONNECTION_LOST: N_("connection lost"),
    Code.TLS_REFUSED: N_("TLS certificate or handshake refused"),
    Code.TIMEOUT: N_("no answer in time"),
    Code.ANSWER_CUT: N_("answer cut short"),
    Code.BODY_TOO_LARGE: N_("body larger than the limit"),
    Code.BAD_ENCODING: N_("body is not what its Content-Encoding says"),
    Code.TOO_MANY_REDIRECTS: N_("redirected too often"),
    Code.NEVER_ENDED: N_("given up, it never came to an end"),
    Code.WORKERS_CRASHED: N_("workers crashed repeatedly"),
    Code.CRAWLER_ERROR: N_("error in the crawler, see the log"),
    Code.ERROR: "{type}",
    Code.OTHER_REASONS: N_("other reasons"),
    Code.OTHER_FAILURES: N_("other reasons"),
}
NOTHING_GIVEN = {
    Code.NOT_HTML: N_("no type given"),
    Code.LANGUAGE: "unknown",
    Code.NO_RESPONSE: N_("no type"),
}
"""What stands for a parameter that is empty."""
CUTS = {
    Cut.TAGS: Message("after {tags} tags or {attributes} attributes", {"tags": MAX_TAGS, "attributes": MAX_ATTRIBUTES}),
    Cut.DEPTH: Message("after {levels} elements in each other", {"levels": MAX_LEVELS}),
    Cut.BLOCKS: Message("after {blocks} lines", {"blocks": MAX_BLOCKS}),
}
CONTENTS = {
    NonImage.SVG: N_("SVG, which may hold scripts"),
    NonImage.HTML: N_("a web page"),
    NonImage.UNKNOWN: N_("of no known type"),
    NonImage.EMPTY: N_("empty"),
}
UNNAMED = (Code.OTHER_REASONS, Code.OTHER_FAILURES)
"""What is counted where there are too many reasons to remember each."""
MOST_NAMED = 10
"""Outcomes that are named in one line."""
MODELS = {"learned": N_("learned model"), "filter_list": N_("filter list")}
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


def ranked(outcomes: Outcomes, most: int = MOST_NAMED) -> list[Message]:
    """The most frequent outcomes with their counts, and how many others there are if there are several.

    >>> found = {Outcome(Code.NOINDEX): 2, Outcome(Code.NOT_HTML, "a/b"): 3_000, Outcome(Code.NOFOLLOW): 1}
    >>> print(*ranked(Outcomes({**found, Outcome(Code.DROPPED): 1}), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), 2 other reasons (2)
    >>> print(*ranked(Outcomes(found), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), nofollow (1)
    >>> print(*ranked(Outcomes({**found, Outcome(Code.OTHER_REASONS): 5}), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), other reasons (6)
    """
    unnamed = sum(count for outcome, count in outcomes.items() if outcome.code in UNNAMED)
    named = {outcome: count for outcome, count in outcomes.items() if outcome.code not in UNNAMED}
    ordered = sorted(named.items(), key=lambda one: (-one[1], one[0]))
    most += len(ordered) == most + 1 and not unnamed
    found = [_with_count(message(outcome), count) for outcome, count in ordered[:most]]
    rest = sum(count for _, count in ordered[most:])
    if unnamed:  # which may be of any number of reasons
        found.append(_with_count(Message(SENTENCES[Code.OTHER_REASONS]), rest + unnamed))
    elif rest:
        others = plural("{n} other reason", "{n} other reasons", len(ordered) - most)
        found.append(_with_count(others, rest))
    return found


def _with_count(words: Message, count: int) -> Message:
    return Message("{words} ({count})", {"words": words, "count": f"{count:,}"})


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


def _status(code: str) -> Message:
    """A status with its phrase, or as a number that has none.

    >>> str(_status("404")), str(_status("2000"))
    ('404 Not Found', 'status 2000')
    """
    try:
        return Message("{code} {phrase}", {"code": code, "phrase": HTTPStatus(int(code)).phrase})
    except ValueError:
        return Message("status {code}", {"code": code})
