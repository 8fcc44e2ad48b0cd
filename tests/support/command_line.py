"""Commands as `scrapy` runs them, in this process."""

from collections.abc import Mapping
from typing import Any

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings
from sites import command


def run_command(capture: "pytest.CaptureFixture[Any]", *words: str) -> tuple[int, Any, Any]:
    """Run `scrapy` with these words; the exit status, what it wrote and what it said."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    capture.readouterr()
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", *words], settings)
    return int(ended.value.code or 0), *capture.readouterr()


def refusal_of_crawl(
    capture: "pytest.CaptureFixture[Any]", arguments: Mapping[str, Any], settings: Mapping[str, Any], *more: str
) -> str:
    """The line by which a crawl with wrong arguments, settings or options is refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")  # outside a project there are no crawls
        status, out, err = run_command(capture, *command(arguments, settings, *more)[3:])
    assert (status, out, err.count("\n")) == (2, "", 1), err
    return str(err)
