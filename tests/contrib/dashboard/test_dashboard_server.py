"""The dashboard's server: real requests, whole and broken, and how it starts and ends."""

import hashlib
import io
import os
import re
import select
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import fork_server
import postgres
import pytest
from command_line import run_command
from dashboard_client import API, CHANGES, VIEWS
from dashboards import Served
from sqlalchemy.engine import make_url

from crawler.contrib.dashboard import serve_dashboard
from crawler.contrib.dashboard.users import FILE, READER, User, Users
from crawler.store.database import open_database

PATIENCE = 30.0


class Asked(Served):
    """A dashboard that is asked byte by byte."""

    def raw(self, sent: bytes) -> bytes:
        """All that comes until the server hangs up."""
        with closing(self.connect()) as to:
            to.sendall(sent)
            return _all(to)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", urlsplit(self.address).port), PATIENCE)

    def ask(self, line: str, *headers: str, body: bytes = b"", host: str = "Host: localhost") -> tuple[int, str]:
        """The status, and all that was said."""
        head = "\r\n".join((f"{line} HTTP/1.1", *([host] if host else []), "Connection: close", *headers))
        said = self.raw(head.encode() + b"\r\n\r\n" + body).decode("utf-8", "replace")
        return int(said.split(" ", 2)[1] if said else 0), said


def _all(to: socket.socket) -> bytes:
    said = b""
    try:
        while piece := to.recv(65_536):
            said += piece
    except ConnectionResetError:  # it hung up on what was still to come
        pass
    return said


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("served")
    open_database(make_url(f"sqlite:///{folder / 'output' / 'crawl.db'}")).dispose()
    served = Asked(folder / "output")
    yield served
    served.end()
    assert "Traceback" not in served.said()


@pytest.mark.parametrize(
    ("line", "headers", "status"),
    [
        ("GET /", (), 200),
        ("GET /?lang=zh%0d%0aX:%20y", (), 200),
        ("HEAD /", (), 200),
        ("GET /metrics", (), 200),
        ("GET /static/style.css?0.1", (), 200),
        ("GET /static/../door.py", (), 404),
        ("GET /static/%2e%2e/door.py", (), 404),
        ("GET /static/..%2f..%2fdoor.py", (), 404),
        ("GET /static//style.css", (), 200),
        ("GET /static/style.css%00", (), 404),
        ("GET //evil.example/", (), 404),
        ("GET //[", (), 404),
        ("GET http://localhost/", (), 404),
        ("GET http://evil.example/pages", (), 404),
        ("GET /\xff", (), 400),
        ("GET /%ff?%ff=%ed%a0%80&%00=%00", (), 404),
        ("GET /pages?crawl=%00", (), 400),
        ("GET /pages?crawl=" + "x" * 10_000, (), 400),
        ("GET /?" + "a&" * 7_000, (), 200),
        ("GET /?" + "a&" * 9_000, (), 431),
        ("OPTIONS /", (), 405),
        ("OPTIONS *", (), 405),
        ("GET *", (), 404),
        ("TRACE /", (), 405),
        ("PUT /", (), 405),
        ("DELETE /pages", (), 405),
        ("get /", (), 405),
        ("CONNECT localhost:22", (), 405),
        ("POST /", (), 403),
        ("POST /schedule", ("Origin: http://localhost:3000",), 403),
        ("GET /", ("Host: evil.example",), 400),  # besides the one of ask()
        ("GET /", ("Host: localhost",), 400),  # twice
        ("GET /", ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), 403),
        ("GET /", ("Cookie: lang=zh; lang=" + "x" * 8_000,), 200),
        ("GET /", tuple(f"X-{n}: y" for n in range(600)), 200),
        ("GET /", ("X: " + "y" * 20_000,), 431),
        ("GET /", ("Content-Length: -1",), 400),
    ],
    ids=range(37),
)
def test_a_request_gets_an_answer_of_one_kind(served: Asked, line: str, headers: tuple[str, ...], status: int) -> None:
    found, said = served.ask(line, *headers)
    assert found == status
    head, _, body = said.partition("\r\n\r\n")
    head = head.lower()
    assert "\r\nx: y" not in head
    assert "Traceback" not in said
    if found not in (0, 400):
        assert "content-security-policy: default-src 'none';" in head
        assert "x-content-type-options: nosniff" in head
        assert "server: winnow" in head
    if line.startswith("HEAD"):
        assert body == ""
        assert int(re.search(r"content-length: (\d+)", head)[1]) > 100


def test_a_request_without_a_name_is_refused(served: Asked) -> None:
    assert served.ask("GET /", host="Host: evil.example")[0] == 421
    assert served.ask("GET /", host="")[0] == 400
    assert served.raw(b"GET / HTTP/1.0\r\n\r\n").split()[1] == b"421"


FORM = "Content-Type: application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ((FORM,), b"a=" + b"x" * 1_000_000, 403),
        ((FORM,), b"a=" + b"x" * 1_100_000, 413),
        ((FORM,), b"a&" * 9_999, 403),
        ((FORM,), b"a&" * 10_001, 413),
        (("Content-Type: multipart/form-data; boundary=x",), b"--x\r\nbroken", 403),
        (("Content-Type: application/json",), b"{" * 100_000, 403),
    ],
    ids=range(6),
)
def test_a_body_has_its_bounds(served: Asked, headers: tuple[str, ...], body: bytes, status: int) -> None:
    assert served.ask("POST /", *headers, f"Content-Length: {len(body)}", body=body)[0] == status


def test_a_body_without_an_end_is_cut_off(served: Asked) -> None:
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with closing(served.connect()) as to:
        to.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            to.sendall(piece * 2_000)
    assert served.ask("GET /")[0] == 200


def test_a_refusal_leaves_the_connection_of_use(served: Asked) -> None:
    refused = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=b"
    said = served.raw(refused + b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"403", b"200"]


QUICK = ("/", "/pages", "/images/{verdict}/image", "/labels", "/schedule", "/api/pages/{page}")
LONG = (
    "/metrics /pages/{page} /pages/{page}/original /pages/{page}/blocks /api/pages/{page}/links /pages/{page}/versions "
    "/labels/pages/{page} /api/labels/pages/{page} /labels/pages/{page}/skip /labels/gold.jsonl /evaluate "
    "/evaluate/files/{file} /api/evaluate/files /api/crawls/{crawl}/course"
).split()


def test_what_may_take_long_holds_up_nothing_else() -> None:
    for path, is_slow in [*((one, False) for one in QUICK), *((one, True) for one in LONG)]:
        assert {**VIEWS, **API}[path].is_slow is is_slow


def test_changes_hold_up_nothing_else() -> None:
    assert [path for path, one in CHANGES.items() if not one.is_slow] == []


@pytest.mark.parametrize(
    ("line", "headers", "said"),
    [
        ("GET /nothing", (), "没有这个页面。"),
        ("PUT /", (), "此地址不支持这种请求。"),
        ("GET /?" + "a&" * 9_000, (), "请求头过长。"),
        ("POST /", ("Content-Length: 9000000",), "内容过大。"),
    ],
)
def test_a_refusal_is_in_the_language_of_the_visitor(
    served: Asked, line: str, headers: tuple[str, ...], said: str
) -> None:
    assert said in served.ask(line, "Accept-Language: fr, zh;q=0.5", *headers)[1]


@pytest.mark.long
def test_browsers_that_go_away_cost_nothing(served: Asked) -> None:
    for _ in range(150):
        with closing(served.connect()) as to:
            to.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    until = time.monotonic() + PATIENCE
    while (status := served.ask("GET /")[0]) == 503:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert status == 200


@pytest.mark.long
def test_more_than_can_wait_are_told_so(served: Asked) -> None:
    said: list[int] = []
    asking = [threading.Thread(target=lambda: said.append(served.ask("GET /")[0])) for _ in range(200)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(PATIENCE)
    assert len(said) == 200
    assert set(said) <= {200, 503}
    assert 200 in said


def test_who_asks_nothing_gives_way_to_who_does(served: Served) -> None:
    browsers = [served.connect() for _ in range(520)]
    poll = select.poll()
    for one in browsers:
        poll.register(one, select.POLLIN)
    until, refused = time.monotonic() + PATIENCE, 0
    while refused < 20 and time.monotonic() < until:
        time.sleep(0.1)
        refused = len(poll.poll(0))
    time.sleep(0.2)
    assert len(poll.poll(0)) == refused == 20
    assert {number for number, _ in poll.poll(0)} == {one.fileno() for one in browsers[:20]}
    assert served.ask("GET /")[0] == 200
    for one in browsers:
        one.close()


@pytest.mark.long
def test_who_is_being_answered_does_not_give_way_to_who_asks_nothing(served: Asked) -> None:
    line, often = b"GET /static/vendor/uplot.js HTTP/1.1\r\nHost: localhost\r\n", 160
    with closing(served.connect()) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)  # so what it is sent does not fit in between
        slow.sendall((line + b"\r\n") * often)
        time.sleep(2)
        others = [served.connect() for _ in range(520)]
        assert served.ask("GET /")[0] == 200
        slow.sendall(line + b"Connection: close\r\n\r\n")
        assert _all(slow).count(b"HTTP/1.1 200") == often + 1
    for one in others:
        one.close()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_status_0(tmp_path: Path, sent: signal.Signals) -> None:
    path = tmp_path / "output" / "crawl.db"
    open_database(make_url(f"sqlite:///{path}")).dispose()
    served = Asked(tmp_path / "output")
    with closing(sqlite3.connect(path)) as file, closing(served.connect()) as asking:
        file.execute("PRAGMA locking_mode = EXCLUSIVE")
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("BEGIN EXCLUSIVE")
        asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.3)
        begun = time.monotonic()
        served.process.send_signal(sent)
        assert served.process.wait(PATIENCE) == 0
        assert time.monotonic() - begun < 4
    assert "Traceback" not in served.said()


def _locked(path: Path) -> None:
    open_database(make_url(f"sqlite:///{path}")).dispose()
    file = sqlite3.connect(path)
    file.execute("PRAGMA locking_mode = EXCLUSIVE")
    file.execute("PRAGMA journal_mode = DELETE")
    file.execute("BEGIN EXCLUSIVE")
    _locked.file = file  # type: ignore[attr-defined]


def _version(path: Path, number: int) -> None:
    engine = open_database(make_url(f"sqlite:///{path}"))
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE winnow_state SET version = {number}")
    engine.dispose()


@pytest.mark.long
@pytest.mark.parametrize(
    ("prepare", "status", "said"),
    [
        (lambda path: None, 200, ""),
        (lambda path: path.write_bytes(b""), 200, ""),
        (lambda path: path.write_bytes(b"no database" * 1_000), 503, "file is not a database"),
        (lambda path: path.mkdir(), 503, "unable to open database file"),
        (lambda path: _version(path, 99), 503, "was made by a newer release"),
        (_locked, 503, "database is locked"),
    ],
    ids="missing empty other folder version locked".split(),
)
def test_a_database_that_is_of_no_use_is_said_in_a_sentence(tmp_path: Path, prepare, status: int, said: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "output" / "crawl.db"
    path.parent.mkdir()
    prepare(path)
    served = Asked(tmp_path / "output")
    try:
        found, text = served.ask("GET /api/crawls")
    finally:
        served.end()
    assert found == status
    assert said in text
    assert "Traceback" not in text + served.said()


def test_a_server_that_is_away_is_said_in_a_sentence(tmp_path: Path) -> None:
    port = postgres.free_port()
    served = Asked(tmp_path / "output", "-s", f"STATE_URL=postgresql+psycopg://me:secret@127.0.0.1:{port}/crawls")
    try:
        found, text = served.ask("GET /metrics")
    finally:
        served.end()
    assert found == 503
    assert "cannot be read" in text
    assert "secret" not in text + served.said()


def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        (("--port", "abc"), "argument --port: 'abc' is wrong"),
        (("--port", "65536"), "argument --port: '65536' is wrong"),
        (("--host", "evil.example"), "--host 'evil.example' is wrong"),
        (("--host", "0.0.0.0"), "gives other machines access; add a user first with --add-user"),
        (("-s", "DASHBOARD_PATH=/a//b"), "setting DASHBOARD_PATH is wrong"),
        (("-s", "DASHBOARD_PATH=/a/../b"), "setting DASHBOARD_PATH is wrong"),
        (("-s", "DASHBOARD_PROXIES=bees.example"), "'bees.example' is no address or network"),
        (("--add-user", "a:b"), "--add-user 'a:b' is wrong"),
        (("--add-user", "ann"), "the password must have 8 to 200 characters"),
        (("--remove-user", "ann"), "there is no user 'ann'"),
        (("-s", "DASHBOARD_HOSTS=bees.example,http://x/"), "'http://x/' is not a host name"),
        (("-s", "STATE_URL=bees"), "setting STATE_URL is wrong"),
        (("more",), "'more' is not recognized"),
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(serve_dashboard, "serve_application", lambda *_: pytest.fail("It serves."))
    for words, why in rows:
        status, _, said = run_command(capsys, "dashboard", *words, "-s", f"OUTPUT_DIR={tmp_path}")
        assert status == 2
        assert said.startswith("dashboard: ")
        assert why in said
        assert said.count("\n") == 1


def test_a_second_one_at_the_same_port_ends_with_a_sentence(served: Asked, tmp_path: Path) -> None:
    log = str(tmp_path / "said")
    port = urlsplit(served.address).port
    line = ["scrapy", "dashboard", "--port", str(port), "-s", f"OUTPUT_DIR={tmp_path}"]
    second = fork_server.common().start(line, tmp_path, (os.devnull, log), fork_server.environment())
    assert second.wait(PATIENCE) == 1
    told = Path(log).read_text()
    assert re.fullmatch(rf"dashboard: .* 127.0.0.1 .*\b{port}\b.*--port\n", told)
    assert told.count("127.0.0.1") == told.count(str(port)) == 1


@pytest.mark.long
def test_changes_that_wait_for_a_crawl_hold_up_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "output" / "crawl.db"
    path.parent.mkdir()
    open_database(make_url(f"sqlite:///{path}")).dispose()
    served = Asked(tmp_path / "output")
    try:
        token = re.search(r'name="token" value="([^"]+)"', served.ask("GET /schedule")[1])
        assert token is not None
        with closing(sqlite3.connect(path, isolation_level=None)) as crawl:
            crawl.execute("BEGIN IMMEDIATE")
            line, headers = "POST /schedule/1/pause", (f"X-Token: {token[1]}", "Content-Length: 0")
            changes = [threading.Thread(target=lambda: served.ask(line, *headers)) for _ in range(8)]
            for one in changes:
                one.start()
            time.sleep(0.3)
            begun = time.monotonic()
            assert served.ask("GET /schedule")[0] == 200
            assert time.monotonic() - begun < 2
            assert any(one.is_alive() for one in changes)
            crawl.execute("ROLLBACK")
        for one in changes:
            one.join()
    finally:
        served.end()


@pytest.mark.parametrize(("proxies", "other"), [("127.0.0.1,::1", 401), ("127.0.0.0/8", 401), ("", 429)])
def test_whom_a_proxy_forwards_is_believed_of_named_proxies(tmp_path: Path, proxies: str, other: int) -> None:
    open_database(make_url(f"sqlite:///{tmp_path / 'output' / 'crawl.db'}")).dispose()
    salt = "00"
    digest = hashlib.scrypt(b"right", salt=b"\0", n=2, r=8, p=1).hex()
    Users(tmp_path / "output" / FILE).put(User("ann", READER, f"scrypt:2:{salt}:{digest}"))
    served = Asked(tmp_path / "output", "-s", f"DASHBOARD_PROXIES={proxies}")

    def guess(client: str, password: bytes = b"wrong", name: bytes = b"ann") -> int:
        body = b"name=" + name + b"&password=" + password
        headers = FORM, f"X-Forwarded-For: {client}", f"Content-Length: {len(body)}"
        return served.ask("POST /login", *headers, body=body)[0]

    try:
        assert [guess("192.0.2.1") for _ in range(20)] == [401] * 20
        assert guess("192.0.2.1", b"right") == 429
        assert guess("192.0.2.2", name=b"bob") == other
    finally:
        served.end()
    assert ("from 192.0.2.1" in served.said()) is (other == 401)
