"""Whether a lock is held, as its file tells."""

from pathlib import Path

from crawler.processes.held_lock import is_held, take_lock


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "output" / ".bees.lock"
    assert not is_held(path)
    assert not path.parent.exists()
    lock = take_lock(path)
    assert lock is not None
    assert is_held(path)
    assert take_lock(path) is None
    lock.release()
    assert not is_held(path)
