"""A second method reads the pages of which the first is in doubt, and whatever it does costs no page."""

import pickle
from collections.abc import Iterator

import pytest
from fallback_servers import ANSWERS, DOUBTFUL, TEXT, FallbackSite, answering, second_text

from crawler.extraction import EXTRACTORS
from crawler.extraction.auto import DOUBT
from crawler.extraction.extractor_fallback import (
    MAX_ANSWER,
    ExtractorFallback,
    FallbackError,
    FallbackServer,
    is_doubtful,
    with_fallback,
)
from crawler.page.page import Extraction, Page
from crawler.urls.guarded_connection import NotAllowedError
from crawler.urls.public_hosts import AllowList

SURE = "<title>Bees</title><p>Bees gather nectar from clover in the warm hours before noon, and guards wait.</p>"
NOBODY = AllowList(())


def page(html: str = DOUBTFUL) -> Page:
    return Page.from_html(html, "http://a.example/hives")


@pytest.fixture(scope="module")
def servers() -> Iterator[FallbackSite]:
    with answering() as site:
        yield site


def test_the_limit_of_doubt() -> None:
    assert is_doubtful(Extraction("", "", certainty=DOUBT - 0.01))
    assert not is_doubtful(Extraction("", "", certainty=DOUBT))
    assert not is_doubtful(Extraction("", ""))


def raise_an_error(page: Page) -> Extraction:
    raise RuntimeError("no model")


def test_the_second_method_makes_the_text_of_pages_in_doubt() -> None:
    rows = [
        (DOUBTFUL, second_text, "second"),
        (SURE, second_text, ""),
        ("", second_text, ""),
        (DOUBTFUL, lambda page: Extraction(" ", ""), ""),
        (DOUBTFUL, lambda page: TEXT, ""),
        (DOUBTFUL, lambda page: None, ""),
        (DOUBTFUL, raise_an_error, ""),
    ]
    for html, second, method in rows:
        first = EXTRACTORS["auto"](page(html))
        extract = with_fallback(EXTRACTORS["auto"], ExtractorFallback("second", second))  # type: ignore[arg-type]
        extraction = extract(page(html))
        assert extraction.method == method
        assert extraction.text == (TEXT if method else first.text)
        assert extraction.title == first.title
        assert extraction.page_type == first.page_type


@pytest.mark.parametrize(
    ("second", "title", "comments"),
    [
        (Extraction(TEXT, ""), "Hives", "How many?"),
        (Extraction(TEXT, "Bees", comments="So many!"), "Bees", "So many!"),
    ],
)
def test_what_the_second_method_does_not_give_is_that_of_the_first(
    second: Extraction, title: str, comments: str
) -> None:
    first = Extraction("Hives.", "Hives", comments="How many?", certainty=DOUBT / 2)
    extraction = with_fallback(lambda page: first, ExtractorFallback("second", lambda page: second))(page())
    assert (extraction.text, extraction.title, extraction.comments) == (TEXT, title, comments)


def test_it_is_not_called_without_doubt() -> None:
    with_fallback(EXTRACTORS["leaf-tags"], ExtractorFallback("second", pytest.fail))(page())
    with_fallback(EXTRACTORS["auto"], ExtractorFallback("second", pytest.fail))(page(SURE))


def test_a_server_gets_the_page_and_gives_the_text(servers: FallbackSite) -> None:
    server = FallbackServer(f"{servers.url}/text", NOBODY)
    server.check()
    assert pickle.loads(pickle.dumps(server))(page()).text == TEXT
    assert servers.asked[-1] == {"url": "http://a.example/hives", "html": DOUBTFUL}


@pytest.mark.parametrize("path", [path for path in ANSWERS if path not in ("/text", "/empty")] + ["/drip", "/endless"])
def test_a_wrong_answer_is_none(path: str, servers: FallbackSite) -> None:
    with pytest.raises(FallbackError):
        FallbackServer(servers.url + path, NOBODY, seconds=0.3)(page())


def test_the_largest_answer(servers: FallbackSite) -> None:
    assert FallbackServer(f"{servers.url}/padded?{MAX_ANSWER}", NOBODY)(page()).text == TEXT
    with pytest.raises(FallbackError):
        FallbackServer(f"{servers.url}/padded?{MAX_ANSWER + 1}", NOBODY)(page())


@pytest.mark.parametrize("path", ["/empty", "/status", "/drip"])
def test_a_page_keeps_its_text_then(path: str, servers: FallbackSite) -> None:
    fallback = ExtractorFallback("second", FallbackServer(servers.url + path, NOBODY, seconds=0.3))
    extraction = with_fallback(EXTRACTORS["auto"], fallback)(page())
    assert extraction == EXTRACTORS["auto"](page()) or extraction.text == EXTRACTORS["auto"](page()).text
    assert extraction.method == ""


def test_nobody_answers() -> None:
    with pytest.raises(FallbackError):
        FallbackServer("http://127.0.0.1:1/", NOBODY, seconds=1)(page())


def test_a_server_is_on_this_machine() -> None:
    rows = [
        ("http://127.0.0.1:8000/", "", None),
        ("http://127.9.9.9/", "", None),
        ("http://[::1]:8000/text?a=b", "", None),
        ("http://localhost/", "", None),
        ("http://10.0.0.1/", "", NotAllowedError),
        ("http://10.0.0.1/", "10.0.0.0/8", None),
        ("http://192.0.2.1/", "10.0.0.0/8", NotAllowedError),
        ("http://93.184.216.34/", "", NotAllowedError),
        ("http://169.254.169.254/", "", NotAllowedError),
        ("https://127.0.0.1/", "", ValueError),
        ("http://user:word@127.0.0.1/", "", ValueError),
        ("http:///text", "", ValueError),
        ("http://127.0.0.1:99999/", "", ValueError),
    ]
    for address, allowed, refused in rows:
        server = FallbackServer(address, AllowList([allowed]))
        if refused is None:
            server.check()
        else:
            with pytest.raises(refused):
                server.check()


def test_an_address_is_checked_at_each_connection() -> None:
    with pytest.raises(FallbackError):
        FallbackServer("http://93.184.216.34/", NOBODY)(page())
