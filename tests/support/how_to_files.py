"""The files that how-to pages show, as they stand there."""

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from fork_server import ROOT

HOW_TO = ROOT / "docs" / "how-to"
FILE = re.compile(r"^ *cat > (\S+) <<'END'\n(.*?)^ *END$", re.MULTILINE | re.DOTALL)


def how_to_program(page: str, file: str) -> ModuleType:
    """The module that a how-to page shows as a file."""
    files = dict(FILE.findall((HOW_TO / page).read_text(encoding="utf-8")))
    module = ModuleType(Path(file).stem)
    exec(compile(dedent(files[file]), file, "exec"), vars(module))
    return module
