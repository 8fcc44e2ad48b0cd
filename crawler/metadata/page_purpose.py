"""Whether a page serves something else than to be read: to log in, or to list other pages. Only sure signs count."""

import re

from crawler.page.page import Extraction, Page

SHORT = 400
"""Characters of main text from which a page with a log-in form is there for its text."""
LOGIN_WORDS = re.compile(
    r"\b(log|sign)[ _-]?(in|on|up)\b|userlogin|createaccount|wp-login|\bregist(er|rieren|ro|rati)|lost[ -]?password"
    r"|\banmeld|\bconnexion\b|\binscription\b|\biniciar sesi|\bentrar\b|\baccedi\b|\bвойти\b|\bвход\b"
    r"|登录|登入|注册|註冊|ログイン",
    re.IGNORECASE,
)
"""Words of titles and addresses. Many articles have a form at their side, so the form alone proves nothing."""
OF_ARCHIVES = ("category", "tag", "author", "date", "post-type-archive")
LISTS = tuple(
    map(
        frozenset,
        [
            *(("archive", kind) for kind in OF_ARCHIVES),
            ("home", "blog"),
            ("search", "search-results"),
            ("mediawiki", "ns-14"),
        ],
    )
)
"""Classes of the body that together name a list: of WordPress, and a category of MediaWiki."""
SINGLE = frozenset(("single", "singular", "page"))
TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"(\w{1,40})"')
LIST_TYPES = frozenset(("CollectionPage", "SearchResultsPage"))
TEXT_TYPES = re.compile(r"Article|Posting|Product|Recipe|Review")


def is_login(page: Page, extraction: Extraction) -> bool:
    """Whether a page is a form to log in or to register, with little else."""
    if b"password" not in page.body.lower():
        return False
    has_field = any(one.get("type", "").lower() == "password" for one in page.root.iter("input"))
    return has_field and len(extraction.text) < SHORT and LOGIN_WORDS.search(f"{page.title} {page.url}") is not None


def is_listing(page: Page) -> bool:
    """Whether a page says itself that it is a list of other pages.

    >>> is_listing(Page.from_html("<body class='archive tag'>")), is_listing(Page.from_html("<body class='single'>"))
    (True, False)
    """
    body = page.root.find("body")
    classes = set(body.get("class", "").lower().split()) if body is not None else set()
    if any(classes >= names for names in LISTS):
        return not classes & SINGLE
    types = {name for script in page.head.scripts for name in TYPE.findall(script)}
    return bool(types & LIST_TYPES) and not any(map(TEXT_TYPES.search, types))
