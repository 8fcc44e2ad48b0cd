"""The place in which exports are tested."""

from pathlib import Path
from typing import Any

import postgres
import pytest
from export_place import Place
from sqlalchemy.engine import make_url


@pytest.fixture
def place(tmp_path: Path, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place where no crawl was ever run."""
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, make_url(f"sqlite:///{tmp_path / 'crawl.db'}"), capfdbinary)


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, place: Place) -> Place:
    """A place with a database of each kind."""
    if request.param == "postgresql":
        server: postgres.Server = request.getfixturevalue("postgres_server")
        place.url = make_url(server.database())
    return place
