"""What Winnow needs at run time, with all extras, has a permissive licence; what has another is named here."""

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, metadata

from missing import skip
from packaging.requirements import Requirement

PERMISSIVE = re.compile(r"\b(MIT|0?BSD|ISC|Apache|Zlib|PSF|Python Software Foundation|CC0|ZPL)", re.IGNORECASE)
OTHERS = {
    "certifi": "Mozilla Public License 2.0",  # a list of certificates, which is used as it is
    "orjson": "MPL-2.0",  # of the extra `langchain`, which is used as it is
    "psycopg": "LGPL-3.0",  # of the extra `postgres`, which is used as it is
    "psycopg-binary": "LGPL-3.0",
    "tqdm": "MPL-2.0",  # of the extra `llamaindex`, which is used as it is
}
EXTRAS = frozenset(metadata("winnow-crawler").get_all("Provides-Extra") or ()) - {"test", "dev", "docs", "peers"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: Iterable[str], found: set[str]) -> None:
    """Add the packages that a package needs on this machine; raises an error that names one that is not installed."""
    for line in distribution(name).requires or ():
        one = Requirement(line)
        is_needed = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if is_needed and (package := normal(one.name)) not in found:
            found.add(package)
            needed(package, one.extras, found)


def licence(name: str) -> str:
    """What a package says about its licence."""
    said = metadata(name)
    classes = [one.rpartition(":: ")[2] for one in said.get_all("Classifier") or () if one.startswith("License ::")]
    return said.get("License-Expression") or "; ".join(classes) or said.get("License") or ""


def test_licences_are_permissive() -> None:
    found: set[str] = set()
    try:
        needed("winnow-crawler", EXTRAS, found)
    except PackageNotFoundError as error:
        skip(f"{error.name} is not installed")
    assert {"scrapy", "lxml", "psycopg", "playwright"} <= found
    for name in sorted(found):
        said = licence(name)
        assert OTHERS.get(name, "") in said, name
        assert name in OTHERS or PERMISSIVE.search(said), f"{name}: {said or 'no licence'}"
        assert name in OTHERS or not re.search(r"GPL|\bMPL|Mozilla", said), f"{name}: {said}"
