"""Commands as `scrapy` runs them, in this process."""

from typing import Any

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings


def run_command(capture: "pytest.CaptureFixture[Any]", *words: str) -> tuple[int, Any, Any]:
    """Run `scrapy` with these words; the exit status, what it wrote and what it said."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    capture.readouterr()
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", *words], settings)
    return int(ended.value.code or 0), *capture.readouterr()
