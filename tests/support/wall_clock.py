"""Wall clocks that can be set forward or back while programs run by them; pauses and timeouts last as long as ever."""

import mmap
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).with_name("wall_clock.c")


def missing() -> str | None:
    """Why there can be no such clock here, if so."""
    if sys.platform != "linux" or shutil.which("cc") is None:
        return "a C compiler on Linux is needed, as in Debian's package gcc"
    return None


def library(folder: Path) -> Path:
    """What programs are to load, made in this folder."""
    path = folder / "wall_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", path, SOURCE, "-ldl", "-lm"], check=True)
    return path


class WallClock:
    """A clock that programs with its environment have."""

    def __init__(self, path: Path, loaded: Path) -> None:
        path.write_bytes(bytes(8))
        path.chmod(0o644)
        with path.open("r+b") as file:
            self._ahead = mmap.mmap(file.fileno(), 8)
        self.environment: Mapping[str, str] = {"LD_PRELOAD": str(loaded), "WALL_CLOCK": str(path)}

    @property
    def ahead(self) -> float:
        found: tuple[float] = struct.unpack("d", self._ahead)
        return found[0]

    @ahead.setter
    def ahead(self, seconds: float) -> None:
        self._ahead[:] = struct.pack("d", seconds)

    def now(self) -> float:
        return time.time() + self.ahead
