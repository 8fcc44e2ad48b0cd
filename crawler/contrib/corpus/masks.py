"""Masks personal data in the text fields of a page."""

from collections.abc import Mapping, Sequence
from typing import Any

FIELDS = ("title", "text", "comments", "markdown")
COPIES = frozenset(("markdown",))
"""Fields that repeat the text of another field: data masked in them is not counted again."""


def without_personal_data(values: Mapping[str, Any], kinds: Sequence[str]) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of a page with personal data of these kinds masked, and how often each kind was masked.

    If the values include `quality`, the counts are also added to it.
    """
    from crawler.contrib.corpus.quality.personal_data import masked  # compiles patterns that other exports do not need

    changed = dict(values)
    counts = dict.fromkeys(kinds, 0)
    for name in FIELDS:
        text = values.get(name)
        if not text:
            continue
        changed[name], field_counts = masked(text, kinds)
        if name not in COPIES:
            for kind, count in field_counts.items():
                counts[kind] += count
    if "quality" in values:
        changed["quality"] = (values["quality"] or {}) | {f"masked_{kind}": count for kind, count in counts.items()}
    return changed, counts
