"""The outcome of a request that failed or was refused."""

import sys
import zlib
from gzip import BadGzipFile

import brotli
from OpenSSL.SSL import Error as TlsError
from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from service_identity import CertificateError, VerificationError
from twisted.python.failure import Failure

from crawler.outcomes import Code, Outcome

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Refusal(exceptions.IgnoreRequest):
    """A request that this crawler refuses to send or to follow."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


TOO_BUSY = (429, 503)
# Statuses of answers without a body, or with a part of it.
NO_WHOLE_PAGE = frozenset((204, 205, 206))
# The certificate is signed by an unknown authority, or is for another name or none.
TLS_ERRORS = (TlsError, VerificationError, CertificateError)
CODES: dict[type[BaseException], Code] = {
    exceptions.CannotResolveHostError: Code.HOST_NOT_FOUND,
    exceptions.DownloadTimeoutError: Code.TIMEOUT,
    exceptions.DownloadConnectionRefusedError: Code.CONNECTION_REFUSED,
    exceptions.DownloadCancelledError: Code.BODY_TOO_LARGE,
    exceptions.ResponseDataLossError: Code.ANSWER_CUT,
    exceptions.DownloadFailedError: Code.CONNECTION_LOST,
    **dict.fromkeys((BadGzipFile, zlib.error, brotli.error, zstd.ZstdError), Code.BAD_ENCODING),
    ValueError: Code.BAD_HOST_NAME,
}
"""The code of each error, special errors before general ones."""
MOST_LETTERS = 100
"""Letters of another component's reason to refuse a request."""


def outcome_of(failure: Failure) -> Outcome:
    """Why a request failed: the same outcome for the same cause."""
    error = failure.value
    if isinstance(error, HttpError):
        return Outcome(Code.HTTP_STATUS, str(error.response.status))
    if isinstance(error, Refusal):
        return error.outcome
    if isinstance(error, exceptions.IgnoreRequest):
        if "DOWNLOAD_MAXSIZE" in str(error):
            return Outcome(Code.BODY_TOO_LARGE)
        return Outcome(Code.REFUSED, str(error)[:MOST_LETTERS])
    if _caused_by_tls(error):
        return Outcome(Code.TLS_REFUSED)
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
    return Outcome(code) if code else Outcome(Code.ERROR, type(error).__name__)


def _caused_by_tls(error: BaseException | None) -> bool:
    reasons = [inner.value for inner in getattr(getattr(error, "__cause__", None), "reasons", ())]
    return any(isinstance(inner, TLS_ERRORS) for inner in (error, getattr(error, "__cause__", None), *reasons))
