"""Personal data in the fields of a page that have text."""

from collections.abc import Mapping, Sequence
from typing import Any

FIELDS = ("title", "text", "comments", "markdown")
COPIES = frozenset(("markdown",))
"""Fields that have the text of others again: what is masked in them is not counted."""


def without_personal_data(values: Mapping[str, Any], kinds: Sequence[str]) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of a page without personal data of these kinds, which `quality` counts; and the counts."""
    from crawler.contrib.corpus.quality.personal_data import masked  # imports what other exports do not need

    changed, counts = dict(values), dict.fromkeys(kinds, 0)
    for name in FIELDS:
        if text := values.get(name):
            changed[name], found = masked(text, kinds)
            for kind, count in found.items():
                counts[kind] += 0 if name in COPIES else count
    if "quality" in values:
        changed["quality"] = (values["quality"] or {}) | {f"masked_{kind}": count for kind, count in counts.items()}
    return changed, counts
