"""Visitors who take their time with a request or an answer, or never come to its end."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from fork_server import environment

LARGE = 3_000_000
SERVER = """
import sys
from fastapi.responses import Response
from crawler.contrib.dashboard import server
from crawler.contrib.dashboard.server import listen, server_of

server.CLIENT_SECONDS = float(sys.argv[1])
server.MOST_IN_TRANSIT = int(sys.argv[2])
size = int(sys.argv[3])

async def application(scope, receive, send):
    if scope["type"] == "http":
        refusal = scope["state"]["refusal"]
        await Response(bytes(size), refusal.status if refusal else 200)(scope, receive, send)

listening = listen("127.0.0.1", 0)
print(listening.getsockname()[1], flush=True)
server_of(application).run([listening])
"""
KEPT, CLOSED = b"", b"Connection: close\r\n"


@contextmanager
def serving(seconds: float, most: int = 100 * LARGE) -> Iterator[int]:
    """The port of a server whose answers are large."""
    with started(seconds, most, LARGE) as (port, _):
        yield port


@contextmanager
def started(seconds: float, most: int, size: int) -> Iterator[tuple[int, int]]:
    """The port and the process of a server whose answers are of this size."""
    line = [sys.executable, "-c", SERVER, *map(str, (seconds, most, size))]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=environment()) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.terminate()


def memory(pid: int) -> int:
    """Bytes of a process."""
    (line,) = (one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS"))
    return 1_024 * int(line.split()[1])


def asking(port: int, headers: bytes) -> socket.socket:
    """A visitor over a line that holds little."""
    one = socket.socket()
    one.settimeout(20)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    one.connect(("127.0.0.1", port))
    one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n")
    return one


def read(one: socket.socket, most: int = LARGE, pause: float = 0.0) -> int:
    """How many bytes came until so many were there, or it was hung up."""
    count = 0
    try:
        while count < most and (piece := one.recv(65_536)):
            count += len(piece)
            time.sleep(pause)
    except ConnectionResetError:
        pass
    return count


@pytest.mark.long
def test_who_reads_slowly_gets_all() -> None:
    with serving(1.0) as port, closing(asking(port, KEPT)) as slow:
        begun = time.monotonic()
        assert read(slow, pause=0.06) >= LARGE
        assert time.monotonic() - begun > 2  # times as long as something must be taken in


@pytest.mark.long
@pytest.mark.parametrize("headers", [KEPT, CLOSED])
def test_who_reads_nothing_is_hung_up_on(headers: bytes) -> None:
    with serving(0.5) as port, closing(asking(port, headers)) as still:
        time.sleep(2.5)
        assert read(still) < LARGE / 2


@pytest.mark.long
def test_who_stands_still_for_longest_gives_way_where_memory_is_short() -> None:
    with serving(30.0, most=2 * LARGE + 1) as port:
        visitors = []
        for _ in range(3):
            visitors.append(asking(port, KEPT))
            time.sleep(0.3)
        taken = [read(one) for one in visitors]
        for one in visitors:
            one.close()
    assert taken[0] < LARGE / 2
    assert min(taken[1:]) >= LARGE


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_who_asks_again_and_again_and_takes_nothing_costs_one_answer() -> None:
    size, times = 60_000, 1_000
    with started(20.0, 100 * LARGE, size) as (port, pid), closing(asking(port, KEPT)) as still:
        before = memory(pid)
        still.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * times)
        time.sleep(1.5)
        assert memory(pid) - before < 20 * size
        assert read(still, 10 * size) >= 10 * size


def test_answers_come_whole_and_one_after_the_other() -> None:
    with serving(5.0) as port, closing(asking(port, KEPT)) as one:
        one.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = b"".join(iter(lambda: one.recv(1 << 20), b""))
    assert said.count(b"HTTP/1.1 200 OK") == 3
    assert said.count(b"\0") == 2 * LARGE


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


def time_to_close(one: socket.socket, pieces: Iterator[bytes], pause: float) -> tuple[float, bytes]:
    """After how many seconds it is hung up on a visitor who sends these pieces, and what was said."""
    begun, said = time.monotonic(), b""
    one.settimeout(pause)
    while time.monotonic() - begun < 10:
        try:
            if piece := next(pieces, b""):
                one.sendall(piece)
            if not (answer := one.recv(1_000)):
                break
            said += answer
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - begun, said


@pytest.mark.long
@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"", b""), (b"POST / HT", b""), (HEAD[:-2], b""), (HEAD, b"HTTP/1.1 408"), (HEAD + b"a=b", b"HTTP/1.1 408")],
)
def test_a_visitor_who_sends_no_more_is_hung_up_on(sent: bytes, status: bytes) -> None:
    with serving(1.0) as port, closing(socket.create_connection(("127.0.0.1", port))) as one:
        took, said = time_to_close(one, iter([sent]), 0.1)
    assert 0.8 < took < 3
    assert said[:12] == status


@pytest.mark.long
@pytest.mark.parametrize(("begun", "status"), [(HEAD[:20], b""), (HEAD, b"HTTP/1.1 408")])
def test_a_request_that_comes_drop_by_drop_has_its_time(begun: bytes, status: bytes) -> None:
    drops = iter([begun, *[b"a"] * 90])
    with serving(1.0) as port, closing(socket.create_connection(("127.0.0.1", port))) as one:
        took, said = time_to_close(one, drops, 0.1)
    assert 0.8 < took < 3
    assert said[:12] == status


@pytest.mark.long
def test_between_two_requests_there_is_time() -> None:
    with serving(1.0) as port, closing(asking(port, KEPT)) as one:
        assert read(one) >= LARGE
        time.sleep(0.6)
        one.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(0.6)
        one.sendall(b"Host: localhost\r\n\r\n")
        assert read(one) >= LARGE
