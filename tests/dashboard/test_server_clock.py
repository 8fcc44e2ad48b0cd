"""How long the dashboard's server waits for a browser, by a clock that is turned by hand."""

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.threadpool import ThreadPool

from crawler.dashboard.request import TEXT, Answer
from crawler.dashboard.server import site

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD[:-2], HEAD, HEAD + b"a=b"])
@pytest.mark.parametrize(("seconds", "is_over"), [(59.0, False), (61.0, True)])
def test_a_browser_that_says_no_more_is_waited_for_a_minute(sent: bytes, seconds: float, is_over: bool) -> None:
    clock, browser = Clock(), StringTransport()
    connected = site(lambda asked: Answer(b"", TEXT), clock, ThreadPool(), ThreadPool()).buildProtocol(None)
    connected.makeConnection(browser)
    connected.dataReceived(sent)
    clock.advance(seconds)
    assert browser.disconnecting is is_over


@pytest.mark.parametrize(("pieces", "said"), [(19, b""), (21, b"HTTP/1.1 408 ")])
def test_a_body_that_comes_drop_by_drop_is_waited_for_a_minute(pieces: int, said: bytes) -> None:
    clock, browser = Clock(), StringTransport()
    connected = site(lambda asked: Answer(b"", TEXT), clock, ThreadPool(), ThreadPool()).buildProtocol(None)
    connected.makeConnection(browser)
    connected.dataReceived(HEAD)
    for _ in range(pieces):
        clock.advance(3.0)
        connected.dataReceived(b"a")
    assert browser.value()[:13] == said
