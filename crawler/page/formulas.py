"""The text of formulas: their TeX if the page has it, else their characters.

A page shows a formula as MathML, as an image, or by a script that draws it from TeX. Some show it in two ways; then the
one is read that is text already.
"""

import re
from itertools import islice

from lxml import etree

from crawler.page.text import fold_space

IMAGES = frozenset("tex latex mathtex mwe-math-fallback-image-inline mwe-math-fallback-image-display".split())
"""Classes of images whose alternative text is TeX."""
BESIDE_TEXT = frozenset(("katex-mathml", "MJX_Assistive_MathML"))
"""Classes of elements whose MathML stands beside the same formula in letters."""
MAX_PARTS = 30  # elements of a drawn formula in which letters are looked for
_STYLED = re.compile(r"\{\\(?:display|text)style\s(.*)\}", re.DOTALL)


def formula(element: etree._Element) -> str:
    """The text of a <math> or of a <script> of TeX; empty for other scripts, and if the text stands beside it."""
    if element.tag == "script":
        return _script(element)
    if not BESIDE_TEXT.isdisjoint(_classes(element.getparent())):
        return ""
    notes = (note for note in element.iter("annotation") if note.get("encoding") == "application/x-tex")
    written = next(notes, None)
    tex = (written.text if written is not None else None) or element.get("alttext")
    return _tex(tex) if tex else fold_space("".join(_characters(element)))


def image_formula(image: etree._Element) -> str | None:
    """The text of an image of a formula, if it is one and no MathML before it is the same."""
    if IMAGES.isdisjoint(_classes(image)) or _holds_math(image.getprevious()):
        return None
    return _tex(image.get("alt") or "")


def _holds_math(before: etree._Element | None) -> bool:
    """Whether an element with no text after it is a <math> or the parent of one."""
    if before is None or (before.tail or "").strip():
        return False
    return before.tag == "math" or before.find("math") is not None


def _script(script: etree._Element) -> str:
    if not (script.get("type") or "").startswith("math/tex"):
        return ""
    return "" if _shows_text(script.getprevious()) else (script.text or "").strip()


def _shows_text(drawn: etree._Element | None) -> bool:
    """Whether MathJax has drawn a formula in letters."""
    if drawn is None or not (drawn.get("class") or "").startswith("MathJax"):
        return False
    return any((part.text or "").strip() for part in islice(drawn.iter(), MAX_PARTS))


def _classes(element: etree._Element | None) -> list[str]:
    return [] if element is None else (element.get("class") or "").split()


def _tex(source: str) -> str:
    styled = _STYLED.fullmatch(source.strip())
    return fold_space(styled[1] if styled else source)


def _characters(math: etree._Element) -> list[str]:
    parts = math.iter(etree.Element)
    return [text for part in parts if not str(part.tag).startswith("annotation") and (text := part.text)]
