"""The documentation builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import ROOT
from missing import need

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md"))


def test_the_first_page_links_to_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [page for page in PAGES if f"]({page.as_posix()})" not in index] == [Path("index.md")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    need("sphinx", "myst_parser", "furo")
    folder = tmp_path_factory.mktemp("site")
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*sphinx, "-d", folder / "doctrees", DOCS, folder / "html"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_page_is_in_the_site_and_its_sidebar(page: Path, site: Path) -> None:
    name = page.with_suffix(".html").as_posix()
    assert (site / name).is_file()
    index = (site / "index.html").read_text(encoding="utf-8")
    assert f'class="reference internal" href="{name}"' in index or page.stem == "index"
