"""What a site of strangers.py is, and the workshop in which it is built."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from struct import pack
from zlib import compress, crc32

from server import Served, serving

from strangers_sites.sources import IMAGES, Document

PORT = 8765
STAMP = "built"
"""The file that a finished installation or site has."""


@dataclass(frozen=True)
class Programs:
    """Programs that are installed by name into one folder, and shared by sites."""

    name: str
    npm: Sequence[str] = ()
    pypi: Sequence[str] = ()
    debian: Sequence[str] = ()
    """Packages that are unpacked, not installed."""


@dataclass(frozen=True)
class Site:
    """A site that a stranger's program makes."""

    name: str
    kind: str
    """`blog`, `manual`, `application` or `content system`."""
    address: str
    """Its loopback address, as absolute links have it."""
    programs: Programs
    build: Callable[["Workshop"], None]
    documents: Callable[["Workshop"], Sequence[Document]]
    output: str
    """The folder that is served, below the site's or, for what packages hold ready, the programs'."""
    fallback: str = ""
    """The file that is served for addresses without a file, as hosts of applications are configured."""
    is_ready: bool = False
    """Whether the pages are in the programs' folder."""
    serve: "Callable[[Workshop], AbstractContextManager[Served]] | None" = None
    """Serves a site that has programs of its own; files are served from its output."""
    front: str = "/"
    """The path of its front page."""
    comment: str = ""
    """What each comment of a reader has, and no document."""

    @property
    def url(self) -> str:
        return f"http://{self.address}:{PORT}"


@dataclass(frozen=True)
class Workshop:
    """The folders of a site and of its programs."""

    root: Path
    site: Site

    @property
    def folder(self) -> Path:
        return self.root / "sites" / self.site.name

    @property
    def programs(self) -> Path:
        return self.root / "programs" / self.site.programs.name

    @property
    def output(self) -> Path:
        return (self.programs if self.site.is_ready else self.folder) / self.site.output

    @property
    def node_modules(self) -> Path:
        return self.programs / "node_modules"

    @property
    def python_packages(self) -> Path:
        """The packages of the programs' environment."""
        return next((self.programs / "venv").glob("lib/python*/site-packages"))

    def serving(self) -> AbstractContextManager[Served]:
        """Serves the site, and remembers what was asked for."""
        if self.site.serve is not None:
            return self.site.serve(self)
        return self._serving_files()

    @contextmanager
    def _serving_files(self) -> Iterator[Served]:
        with serving(self.output, self.site.address, PORT, self.site.fallback) as (_, served):
            yield served

    @cached_property
    def documents(self) -> Sequence[Document]:
        return self.site.documents(self)

    def run(self, *command: str | Path, folder: Path | None = None, **environment: str) -> None:
        """Run a program of the workshop, whose output goes to a log."""
        path = f"{self.node_modules / '.bin'}{os.pathsep}{self.programs / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "build.log").open("ab") as log:
            subprocess.run(
                command,
                cwd=folder or self.folder,
                env={**os.environ, "PATH": path, **environment},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                check=True,
            )

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file of the site's sources."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def write_json(self, path: str, value: object) -> None:
        self.write(path, json.dumps(value, ensure_ascii=False, indent=1))

    def write_images(self, folder: str) -> None:
        """Write the photographs that posts show."""
        for number in range(1, IMAGES + 1):
            self.write(f"{folder}/photo-{number}.png", photograph(number))

    def link_node_modules(self) -> None:
        """Let the site use the programs' npm packages."""
        (self.folder / "node_modules").symlink_to(self.node_modules)

    def install(self) -> None:
        """Install the programs, unless they are there."""
        if (self.programs / STAMP).exists():
            return
        self.programs.mkdir(parents=True, exist_ok=True)
        programs = self.site.programs
        if programs.npm:
            (self.programs / "package.json").write_text("{}", encoding="utf-8")
            self.run(
                "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *programs.npm, folder=self.programs
            )
        if programs.pypi:
            self.run(sys.executable, "-m", "venv", self.programs / "venv")
            self.run(self.programs / "venv/bin/pip", "install", *programs.pypi)
        for package in programs.debian:
            self.run("apt-get", "download", package, folder=self.programs)
            archive = next(self.programs.glob(f"{package}_*.deb"))
            self.run("dpkg", "-x", archive, self.programs)
            archive.unlink()
        (self.programs / STAMP).touch()

    def prepare(self) -> None:
        """Install and build, unless it was done before."""
        if (self.folder / STAMP).exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.install()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.site.build(self)
        (self.folder / STAMP).touch()


def photograph(number: int, width: int = 480, height: int = 320) -> bytes:
    """A PNG file of a size that photographs in posts have."""
    rows = b"".join(
        b"\0" + bytes((x * number + y * y // 7) % 256 for x in range(width) for _ in range(3)) for y in range(height)
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
        for kind, data in (
            (b"IHDR", pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            (b"IDAT", compress(rows)),
            (b"IEND", b""),
        )
    )


def yaml_lines(values: Mapping[str, object]) -> str:
    """A flat configuration in YAML, each value as JSON, which YAML includes."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())
