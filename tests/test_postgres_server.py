"""The tests' own PostgreSQL server keeps what a crash would keep, and ends with whoever started it."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from socket import create_connection

import postgres
import pytest
from fork_server import ROOT

SUPPORT = ROOT / "tests" / "support"
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{SUPPORT}{os.pathsep}{SUPPORT.parent}", "WINNOW_REQUIRE_ALL": ""}


def listens(port: int) -> bool:
    try:
        create_connection((postgres.HOST, port), timeout=5).close()
    except (ConnectionRefusedError, ConnectionResetError):
        return False
    return True


def ends(port: int) -> bool:
    until = time.monotonic() + 10
    while listens(port) and time.monotonic() < until:
        time.sleep(0.02)
    return not listens(port)


def value(url: str, query: str) -> object:
    with postgres.connect(url) as connection:
        return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
        ("fsync", "off"),
        ("synchronous_commit", "on"),
        ("server_encoding", "UTF8"),
        ("lc_messages", "C"),
    ],
)
def test_settings(postgres_server: postgres.Server, setting: str, expected: str) -> None:
    assert value(postgres_server.url, f"SHOW {setting}") == expected


def test_two_databases_do_not_see_each_other(postgres_server: postgres.Server) -> None:
    one, other = postgres_server.database(), postgres_server.database()
    with postgres.connect(one) as connection:
        connection.execute("CREATE TABLE mine ()")
    assert [value(url, "SELECT to_regclass('mine')") for url in (one, other)] == ["mine", None]


def test_what_is_committed_survives_a_stop_and_nothing_else_does(postgres_server: postgres.Server) -> None:
    url = postgres_server.database()
    with closing(postgres.connect(url)) as committing, closing(postgres.connect(url)) as lost:
        committing.execute("CREATE TABLE kept (name text)")
        committing.execute("INSERT INTO kept VALUES ('committed')")
        lost.execute("BEGIN")
        lost.execute("INSERT INTO kept VALUES ('not committed')")
        postgres_server.stop()
    try:
        listened = listens(postgres_server.port)
    finally:
        postgres_server.start()
    assert not listened
    assert value(url, "SELECT string_agg(name, ', ') FROM kept") == "committed"


def test_a_frozen_server_answers_once_it_is_thawed(postgres_server: postgres.Server) -> None:
    with postgres.connect(postgres_server.database()) as connection, ThreadPoolExecutor() as pool:
        postgres_server.freeze()
        try:
            old = pool.submit(connection.execute, "SELECT 1")
            new = pool.submit(value, postgres_server.url, "SELECT 2")
            with pytest.raises(TimeoutError):
                old.result(timeout=0.3)
            assert not new.done()
        finally:
            postgres_server.thaw()
        assert old.result(timeout=5).fetchone() == (1,)
        assert new.result(timeout=5) == 2


def test_repeated_commands_change_nothing(postgres_server: postgres.Server) -> None:
    for command in "start thaw freeze freeze thaw thaw stop stop freeze thaw start start freeze stop start".split():
        getattr(postgres_server, command)()
    assert value(postgres_server.url, "SELECT 1") == 1


def test_nothing_is_left_after_the_end(postgres_server: postgres.Server) -> None:
    with postgres.running() as server:
        assert server.port != postgres_server.port
        assert listens(server.port)
        assert server.folder.is_dir()
    assert not listens(server.port)
    assert not server.folder.exists()


KILLED = """
import sys, postgres
with postgres.running() as server:
    {before}
    print(server.port, server.folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("postgres_server")
@pytest.mark.parametrize("before", ["pass", "server.freeze()"])
def test_it_ends_with_whoever_started_it(before: str) -> None:
    line = [sys.executable, "-c", KILLED.format(before=before)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(line, env=ENVIRONMENT, text=True, start_new_session=True, **pipes) as process:
        port, folder = process.stdout.readline().split()
        os.killpg(process.pid, signal.SIGKILL)
        assert ends(int(port))
        until = time.monotonic() + 10
        while Path(folder).exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert not Path(folder).exists()


@pytest.mark.usefixtures("postgres_server")
@pytest.mark.skipif(sys.platform != "linux", reason="Only there can a process ask for a signal when its parent ends.")
def test_it_ends_with_its_keeper() -> None:
    with postgres.running() as server:
        os.kill(server.keeper.pid, signal.SIGKILL)
        assert ends(server.port)
        with pytest.raises(RuntimeError, match="keeper"):
            server.start()
    assert not server.folder.exists()


def programs(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ("initdb", "postgres"):
        (folder / name).write_text(f"#!/bin/sh\necho {folder.parent / 'told'}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        ({"path": ["initdb", "postgres", "pg_config"], "told": [], "debian/15/bin": []}, "told"),
        ({"path": ["initdb", "postgres", "pg_config"], "told": ["postgres"], "debian/15/bin": []}, "path"),
        ({"path": ["pg_config"], "debian/15/bin": []}, "debian/15/bin"),
        ({"path": ["postgres"], "debian/9.6/bin": [], "debian/15/bin": []}, "debian/15/bin"),
        ({"debian/9.6/bin": [], "debian/15/bin": [], "debian/16/bin": ["postgres"]}, "debian/15/bin"),
        ({"debian/9.5/bin": [], "debian/9.6/bin": []}, "debian/9.6/bin"),
    ],
)
def test_where_the_programs_are(
    here: dict[str, list[str]], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, names in here.items():
        programs(tmp_path / folder, *names)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path / "debian")
    assert postgres.binaries() == tmp_path / expected


def test_without_programs_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs(tmp_path / "path", "pg_config")))
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path)
    assert postgres.binaries() is None
    assert "PostgreSQL is not installed" in (postgres.missing() or "")
    with pytest.raises(RuntimeError, match="PostgreSQL is not installed"), postgres.running():
        pass


def test_without_psycopg_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "binaries", Path)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "psycopg is not installed" in (postgres.missing() or "")


@pytest.mark.long
@pytest.mark.parametrize(("required", "expected"), [("", "1 skipped"), ("1", "1 error")])
def test_without_a_server_tests_are_skipped_unless_it_is_required(required: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(postgres_server): pass")
    start = "import sys, pytest, postgres; postgres.missing = lambda: 'None is here.'; sys.exit(pytest.main())"
    environment = ENVIRONMENT | {"WINNOW_REQUIRE_ALL": required, "PYTEST_ADDOPTS": "-p conftest -rs"}
    line = [sys.executable, "-c", start]
    ended = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert expected in ended.stdout
    assert "None is here." in ended.stdout
