"""Responses as they are kept beside the pages they brought."""

from http import HTTPStatus

from scrapy.http import Response

from crawler.state import entries

PHRASES = {status.value: status.phrase for status in HTTPStatus}


def kept(response: Response) -> entries.Response:
    """The response with its status line in the standard's words, which Scrapy forgets, and its headers as they came."""
    line = f"{response.protocol or 'HTTP/1.1'} {response.status} {PHRASES.get(response.status, '')}"
    headers = (
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in (values if isinstance(values, list) else [values])
    )
    return entries.Response(line, tuple(headers), response.body)
