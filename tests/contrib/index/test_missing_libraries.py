"""What a reader of another library says where that library is not installed."""

import importlib
import sys

import pytest

from crawler.errors import MissingPartError


@pytest.mark.parametrize(
    ("module", "libraries"),
    [
        ("langchain", ["langchain_core", "langchain_core.document_loaders"]),
        ("llamaindex", ["llama_index", "llama_index.core.readers.base"]),
    ],
)
def test_the_extra_is_named(module: str, libraries: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"crawler.contrib.index.{module}", raising=False)
    with pytest.raises(MissingPartError, match=rf"winnow-crawler\[{module}\]"):
        importlib.import_module(f"crawler.contrib.index.{module}")
