"""The text of formulas: their TeX if the page has it, else their characters.

A page shows a formula as MathML, as an image, or by a script that draws it from TeX. Some show it in two ways; then the
one is read that is text already.
"""

import re

from lxml import etree

from crawler.page.text import fold_space

IMAGES = frozenset("tex latex mathtex mwe-math-fallback-image-inline mwe-math-fallback-image-display".split())
"""Classes of images whose alternative text is TeX."""
BESIDE_TEXT = frozenset(("katex-mathml", "MJX_Assistive_MathML"))
"""Classes of elements whose MathML stands beside the same formula in letters."""
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
    if IMAGES.isdisjoint(_classes(image)):
        return None
    before = image.getprevious()
    is_said = before is not None and not (before.tail or "").strip() and next(before.iter("math"), None) is not None
    return None if is_said else _tex(image.get("alt") or "")


def _script(script: etree._Element) -> str:
    if not (script.get("type") or "").startswith("math/tex"):
        return ""
    before = script.getprevious()
    if (
        before is not None
        and (before.get("class") or "").startswith("MathJax")
        and str(before.xpath("string()")).strip()
    ):
        return ""
    return (script.text or "").strip()


def _classes(element: etree._Element | None) -> list[str]:
    return [] if element is None else (element.get("class") or "").split()


def _tex(source: str) -> str:
    styled = _STYLED.fullmatch(source.strip())
    return fold_space(styled[1] if styled else source)


def _characters(math: etree._Element) -> list[str]:
    parts = math.iter(etree.Element)
    return [text for part in parts if not str(part.tag).startswith("annotation") and (text := part.text)]
