import pytest
from OpenSSL.SSL import Error as TlsError
from scrapy import exceptions
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import HtmlResponse, Request
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import CODES, Refusal, outcome_of


def status(code: int) -> HttpError:
    return HttpError(HtmlResponse("http://example.com/", status=code), "ignored")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class ReasonsError(Exception):
    """Shaped like what Twisted raises for a connection: it holds the failures of each attempt."""

    def __init__(self, *errors: Exception) -> None:
        self.reasons = [Failure(error) for error in errors]


def test_outcomes() -> None:
    rows = [
        (status(404), Outcome(Code.HTTP_STATUS, "404")),
        (status(503), Outcome(Code.HTTP_STATUS, "503")),
        (status(599), Outcome(Code.HTTP_STATUS, "599")),
        (Refusal(Outcome(Code.ROBOTS_FORBIDS)), Outcome(Code.ROBOTS_FORBIDS)),
        (exceptions.IgnoreRequest("because"), Outcome(Code.REFUSED, "because")),
        (exceptions.IgnoreRequest("larger than DOWNLOAD_MAXSIZE (1)"), Outcome(Code.BODY_TOO_LARGE)),
        (exceptions.CannotResolveHostError("x"), Outcome(Code.HOST_NOT_FOUND)),
        (exceptions.DownloadTimeoutError("x"), Outcome(Code.TIMEOUT)),
        (exceptions.DownloadConnectionRefusedError("x"), Outcome(Code.CONNECTION_REFUSED)),
        (exceptions.DownloadCancelledError("x"), Outcome(Code.BODY_TOO_LARGE)),
        (exceptions.ResponseDataLossError("x"), Outcome(Code.ANSWER_CUT)),
        (exceptions.DownloadFailedError("x"), Outcome(Code.CONNECTION_LOST)),
        (TlsError("x"), Outcome(Code.TLS_REFUSED)),
        (caused(exceptions.DownloadFailedError("x"), TlsError("x")), Outcome(Code.TLS_REFUSED)),
        (
            caused(exceptions.DownloadFailedError("x"), ReasonsError(TlsError("x"))),
            Outcome(Code.TLS_REFUSED),
        ),
        (caused(exceptions.DownloadFailedError("x"), ReasonsError(OSError("x"))), Outcome(Code.CONNECTION_LOST)),
        (ValueError("http://example.com/7"), Outcome(Code.BAD_HOST_NAME)),
        (KeyError("http://example.com/7"), Outcome(Code.ERROR, "KeyError")),
    ]
    for error, expected in rows:
        assert outcome_of(Failure(error)) == expected


def test_a_body_that_is_not_what_its_encoding_says() -> None:
    for encoding in ["gzip", "deflate", "br", "zstd"]:
        answer = HtmlResponse("http://example.com/", body=b"<p>Bees.</p>", headers={"Content-Encoding": encoding})
        with pytest.raises(Exception) as raised:  # noqa: PT011 - each library has its own
            HttpCompressionMiddleware(crawler=get_crawler()).process_response(Request(answer.url), answer)
        assert outcome_of(Failure(raised.value)) == Outcome(Code.BAD_ENCODING)


def test_the_outcome_does_not_depend_on_the_address() -> None:
    for kind in CODES:
        said = {outcome_of(Failure(kind(f"no {url}"))) for url in ("http://a.example/", "http://b.example/")}
        assert len(said) == 1
