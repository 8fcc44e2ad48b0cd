"""The reference in docs/ is what docs/reference.py writes from the code."""

import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import ROOT
from missing import need

FOLDER = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("fastapi", "cronsim", "pyarrow")
    folder = tmp_path_factory.mktemp("reference")
    code = "import sys, pathlib, reference; reference.write(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT / "docs", check=True)
    return folder


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_it_is_up_to_date(name: str, written: Path) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == (written / name).read_text(encoding="utf-8")


def test_no_page_is_missing(written: Path) -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(path.name for path in written.iterdir())
