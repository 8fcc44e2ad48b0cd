"""An erasure changes the database and the files of a worker together, on SQLite and on PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine
from store_workers import Crew
from test_erase_rows import HOST, OTHER, PERSON, crawl_some, tables_with

from crawler.contrib.index.changes import ChangeKind, changes
from crawler.contrib.index.erasure_targets import erasure_targets
from crawler.contrib.index.forget import Erasure, erase
from crawler.errors import BusyError
from crawler.store import database
from crawler.urls.canonical import Canonical


def erased(engine: Engine, folder: Path, *texts: str) -> Erasure:
    return erase(engine.url, folder, "crawl", erasure_targets(texts, Canonical(())))


def test_the_lines_and_their_lengths_are_right(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    crawl_some(crew)
    with (folder / "crawl.jsonl").open("ab") as file:
        file.write(f'{{"url": "{PERSON}"'.encode())  # a killed worker did not commit it
    done = erased(engine, folder, PERSON)
    assert (done.status, done.files.lines, done.not_stored) == (0, 1, [])
    assert PERSON not in (folder / "crawl.jsonl").read_text(encoding="utf-8")
    # The next worker, whose books are checked, goes on in the same file.
    worker = crew.join()
    assert [line["url"] for line in worker.records()] == [OTHER, f"http://{HOST}/hives"]
    assert sorted(path.name for path in folder.glob("*.jsonl*")) == ["crawl.jsonl"]
    worker.leave()
    url = engine.url.render_as_string(hide_password=False)
    kinds = [change.kind for change in changes("crawl", folder=folder, state_url=url)]
    assert kinds == [ChangeKind.NEW, ChangeKind.NEW, ChangeKind.ERASED]


def test_nothing_is_erased_while_a_worker_runs(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    crawl_some(crew)
    worker = crew.join()
    with pytest.raises(BusyError):
        erased(engine, tmp_path / "one", PERSON)
    # From another folder its lock is not seen, but its heartbeat.
    with pytest.raises(BusyError):
        erased(engine, tmp_path / "two", PERSON)
    assert "page" in tables_with(engine, PERSON)
    worker.leave()


def test_files_of_other_folders_are_told(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    crawl_some(crew)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "notes.txt").write_text(f"See {PERSON}.", encoding="utf-8")
    done = erased(engine, tmp_path / "two", PERSON)
    assert (done.files.workers_elsewhere, [path.name for path in done.files_left]) == (1, ["notes.txt"])
    # There the same command erases the lines.
    done = erased(engine, tmp_path / "one", PERSON)
    assert (done.files.lines, done.files.workers_elsewhere, done.status) == (1, 0, 0)


def test_free_space_that_another_process_keeps_is_told(
    sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.01)
    crew = Crew(sqlite_engine, tmp_path)
    crawl_some(crew)
    with closing(sqlite3.connect(str(sqlite_engine.url.database), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM page").fetchone()
        done = erased(sqlite_engine, tmp_path / "one", PERSON)
    assert (done.status, [path.name for path in done.unwiped]) == (1, ["crawl.db"])
    done = erased(sqlite_engine, tmp_path / "one", OTHER)
    assert (done.status, done.unwiped) == (0, [])
    crew.close()


def test_the_lines_of_other_crawls_stay(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    crawl_some(crew)
    crew.join(name="crawl-2").leave()
    line = f'{{"url": "{PERSON}"}}\n'
    for name in ("crawl-2", "crawl-3"):
        (folder / f"{name}.previous.jsonl").write_text(line, encoding="utf-8")
    done = erased(engine, folder, PERSON)
    assert [path.name for path in done.files_left] == ["crawl-2.previous.jsonl"]
    assert (folder / "crawl-2.previous.jsonl").read_text(encoding="utf-8") == line
    assert (folder / "crawl-3.previous.jsonl").read_text(encoding="utf-8") == ""


def test_files_that_only_begin_like_those_of_the_crawl_are_told(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    crawl_some(crew)
    names = ["crawl-corpus.jsonl", "crawl.db.backup"]
    for name in names:
        (tmp_path / "one" / name).write_text(f'{{"url": "{PERSON}"}}\n', encoding="utf-8")
    done = erased(engine, tmp_path / "one", PERSON)
    assert [path.name for path in done.files_left] == names


def test_lines_behind_a_link_are_erased(crew: Crew, engine: Engine, tmp_path: Path) -> None:
    crawl_some(crew)
    lines = tmp_path / "one" / "crawl.jsonl"
    target = lines.rename(tmp_path / "elsewhere.jsonl")
    lines.symlink_to(target)
    done = erased(engine, tmp_path / "one", PERSON)
    assert done.files.lines == 1
    assert PERSON not in target.read_text(encoding="utf-8")
    assert lines.is_symlink()
