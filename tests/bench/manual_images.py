"""Writes pages of manuals with images, for the labels in tests/noise/labels/manuals*.jsonl.

`python manual_images.py FOLDER` fetches the Debian packages named below into FOLDER/packages, unless they are there,
and writes FOLDER/manual_images.jsonl. Then

    scrapy noise evaluate tests/noise/labels/manuals_validation.jsonl --pages FOLDER/manual_images.jsonl

says how many figures are kept (the kinds `text` and `gallery`) and how many signs are skipped (`icon`, `navigation`).
"""

import argparse
import json
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote

from manuals import decoded, fetch

TRAINED_ON = (
    "hugin-data installation-guide-amd64 libreoffice-help-en-us ntpsec-doc octave-doc openshot-qt-doc qtcreator-doc"
    " tuxpaint-data"
)
VALIDATED = (
    "aptitude-doc-en asymptote-doc buildbot-doc ganeti-doc geany-common kicad-doc-en puredata-doc rt5-doc-html"
    " snakemake-doc synaptic texmaker-data texstudio-doc weechat-doc wireshark-doc"
)
ILLUSTRATED, PLAIN = 40, 20
"""Pages of a package, with images and without."""
LARGEST = 1_500_000  # bytes
IN_ENGLISH = {"installation-guide-amd64": "/en/", "tuxpaint-data": "/en/", "puredata-doc": "/"}
"""What the path of an English page has, in packages with pages in many languages."""
OTHER_LANGUAGES = re.compile(r"[-_./](?:cs|da|de|es|fi|fr|hu|id|it|ja|nl|pl|pt|pt_BR|ru|sv|zh|zh_CN)(?:\.utf8)?[./]")


def pages_of(folder: Path, package: str) -> list[dict[str, str]]:
    """Rows of a package, in an order that depends on their names only."""
    top = folder / package
    files = [file for file in top.rglob("*.htm*") if file.is_file() and not file.is_symlink()]
    files = [file for file in files if file.stat().st_size <= LARGEST]
    paths = [file.relative_to(top).as_posix() for file in files]
    paths = [path for path in paths if IN_ENGLISH.get(package, "") in path and not OTHER_LANGUAGES.search(path)]
    paths.sort(key=lambda path: blake2b(path.encode(), digest_size=8).digest())
    rows: dict[bool, list[dict[str, str]]] = {True: [], False: []}
    for path in paths:
        text = decoded((top / path).read_bytes())
        rows_of_kind = rows["<img" in text.lower()]
        rows_of_kind.append({"id": f"{package}/{path}", "url": f"http://{package}.example/{quote(path)}", "html": text})
    return rows[True][:ILLUSTRATED] + rows[False][:PLAIN]


def main() -> None:
    """Write the pages, and say how many each package has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    with (folder / "manual_images.jsonl").open("w", encoding="utf-8") as file:
        for package in f"{TRAINED_ON} {VALIDATED}".split():
            fetch(packages, package)
            rows = pages_of(packages, package)
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            print(f"{package}: {len(rows)} pages")


if __name__ == "__main__":
    main()
