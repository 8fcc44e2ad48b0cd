import pytest
from OpenSSL.SSL import Error as TlsError
from scrapy import exceptions
from scrapy.http import HtmlResponse
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from crawler.failures import WORDS, Refusal, reason


def status(code: int) -> HttpError:
    return HttpError(HtmlResponse("http://example.com/", status=code), "ignored")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class ReasonsError(Exception):
    """Shaped like what Twisted raises for a connection: it holds the failures of each attempt."""

    def __init__(self, *errors: Exception) -> None:
        self.reasons = [Failure(error) for error in errors]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (status(404), "404 Not Found"),
        (status(503), "503 Service Unavailable"),
        (status(599), "599"),
        (Refusal("robots.txt"), "robots.txt"),
        (exceptions.IgnoreRequest("because"), "because"),
        (exceptions.IgnoreRequest("larger than DOWNLOAD_MAXSIZE (1)"), "body larger than the limit"),
        (exceptions.CannotResolveHostError("x"), "host name not found"),
        (exceptions.DownloadTimeoutError("x"), "no answer in time"),
        (exceptions.DownloadConnectionRefusedError("x"), "connection refused"),
        (exceptions.DownloadCancelledError("x"), "body larger than the limit"),
        (exceptions.ResponseDataLossError("x"), "answer cut short"),
        (exceptions.DownloadFailedError("x"), "connection lost"),
        (TlsError("x"), "TLS certificate or handshake refused"),
        (caused(exceptions.DownloadFailedError("x"), TlsError("x")), "TLS certificate or handshake refused"),
        (
            caused(exceptions.DownloadFailedError("x"), ReasonsError(TlsError("x"))),
            "TLS certificate or handshake refused",
        ),
        (caused(exceptions.DownloadFailedError("x"), ReasonsError(OSError("x"))), "connection lost"),
        (ValueError("http://example.com/7"), "not a valid host name"),
        (KeyError("http://example.com/7"), "KeyError"),
    ],
)
def test_reason(error: Exception, expected: str) -> None:
    assert reason(Failure(error)) == expected


@pytest.mark.parametrize("kind", WORDS)
def test_the_words_do_not_depend_on_the_address(kind: type[Exception]) -> None:
    said = {reason(Failure(kind(f"no {url}"))) for url in ("http://a.example/", "http://b.example/")}
    assert len(said) == 1
