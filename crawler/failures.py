"""Why a request brought nothing, in words."""

from http import HTTPStatus

from OpenSSL.SSL import Error as TlsError
from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from service_identity import CertificateError, VerificationError
from twisted.python.failure import Failure


class Refusal(exceptions.IgnoreRequest):
    """A request that this crawler declines to send or to follow; the message says why."""


class Noise(Refusal):
    """A picture that is not asked for, or a page that only such a picture leads to; the message is the outcome."""


NOT_PUBLIC = "address is not public"
# Statuses of answers without a body, or with a part of one.
NO_WHOLE_PAGE = frozenset((204, 205, 206))
# Whoever signed the certificate is not known, or it is for another name, or for none.
TLS_ERRORS = (TlsError, VerificationError, CertificateError)


def reason(failure: Failure) -> str:
    """Why a request failed, in a few words that are the same for the same cause."""
    error = failure.value
    if isinstance(error, HttpError):
        return _status(error.response.status)
    if isinstance(error, exceptions.IgnoreRequest):
        return "body larger than the limit" if "DOWNLOAD_MAXSIZE" in str(error) else str(error)
    if _caused_by_tls(error):
        return "TLS certificate or handshake refused"
    return next((words for kind, words in WORDS.items() if isinstance(error, kind)), type(error).__name__)


WORDS: dict[type[BaseException], str] = {
    exceptions.CannotResolveHostError: "host name not found",
    exceptions.DownloadTimeoutError: "no answer in time",
    exceptions.DownloadConnectionRefusedError: "connection refused",
    exceptions.DownloadCancelledError: "body larger than the limit",
    exceptions.ResponseDataLossError: "answer cut short",
    exceptions.DownloadFailedError: "connection lost",
    ValueError: "not a valid host name",
}


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _caused_by_tls(error: BaseException | None) -> bool:
    reasons = [inner.value for inner in getattr(getattr(error, "__cause__", None), "reasons", ())]
    return any(isinstance(inner, TLS_ERRORS) for inner in (error, getattr(error, "__cause__", None), *reasons))
