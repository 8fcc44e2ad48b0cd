"""The folder of a worker's files: known by a name that is kept in it, wherever it is mounted."""

import os
import secrets
from pathlib import Path

PLACE = ".place"  # the file that names a folder


def place_of(folder: Path) -> tuple[str, bool]:
    """What names this folder, wherever it is mounted and whatever the machine is called; and whether it is a copy."""
    path = folder / PLACE
    if not path.exists():
        name_place(folder, secrets.token_hex(16))
    name, number = path.read_text(encoding="ascii").split()
    return name, number != str(path.stat().st_ino)


def name_place(folder: Path, name: str) -> None:
    """Write the name of a folder into it, with the number by which the file system knows that file alone."""
    path, mine = folder / PLACE, folder / f"{PLACE}-{secrets.token_hex(8)}"
    with mine.open("w", encoding="ascii") as file:
        file.write(f"{name} {mine.stat().st_ino}")
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        mine.replace(path)
        return
    try:
        os.link(mine, path)
    except FileExistsError:  # another worker starts here at the same moment
        pass
    except OSError:  # a file system without links
        mine.replace(path)
    mine.unlink(missing_ok=True)
