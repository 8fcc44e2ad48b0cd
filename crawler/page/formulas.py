"""The text of formulas: the TeX that a page contains, or that is made from its MathML.

A page shows a formula as MathML, as an image, or by a script that draws it from TeX. Some pages contain a formula in
two of these forms, of which only one is read: e.g. the MathML of KaTeX, which contains the TeX.
"""

import re
from itertools import islice

from lxml import etree

from crawler.page.mathml import tex
from crawler.page.text import fold_space

FORMULA_IMAGES = frozenset(
    "tex latex math mathtex mwe-math-fallback-image-inline mwe-math-fallback-image-display".split()
)
"""Classes of images whose alternative text is TeX."""
REPETITIONS = frozenset(("MJX_Assistive_MathML",))
"""Classes of elements whose MathML repeats a formula that stands beside them in another form."""
MAX_AROUND = 4  # elements around a formula that are searched for signs that it stands on a line of its own
DRAWINGS = frozenset(("katex-html", "MathJax", "MathJax_CHTML", "MathJax_SVG"))
"""Classes of elements that draw formulas."""
_STYLED = re.compile(r"\{\\(?:display|text)style\s(.*)\}", re.DOTALL)


def formula(element: etree._Element) -> str:
    """The TeX of a <math> or of a <script> of TeX; empty for other scripts, and for MathML that repeats a formula."""
    if element.tag == "script":
        return _tex_of_script(element)
    if not REPETITIONS.isdisjoint(_classes(element.getparent())):
        return ""
    annotations = (note.text for note in element.iter("annotation") if note.get("encoding") == "application/x-tex")
    source = next(annotations, None) or element.get("alttext")  # TeX, if the page has it
    return _on_one_line(source) if source else tex(element)


def image_formula(image: etree._Element) -> str | None:
    """The TeX of an image of a formula; None for other images, and if MathML before it has the same formula."""
    is_formula = not FORMULA_IMAGES.isdisjoint(_classes(image)) or _is_in_math(image)
    if not is_formula or _ends_with_math(image.getprevious()):
        return None
    return _on_one_line(image.get("alt") or "")


def _is_in_math(image: etree._Element) -> bool:
    """Whether an image is in a <div class="math">, or in a paragraph of one."""
    holder = image.getparent()
    if holder is not None and holder.tag == "p":
        holder = holder.getparent()
    return holder is not None and "math" in _classes(holder)


def is_display(element: etree._Element) -> bool:
    """Whether a formula stands on a line of its own, given its <math>, <script> or <img>."""
    if element.tag == "script":
        return "mode=display" in (element.get("type") or "")
    if element.get("display") == "block" or any("display" in name for name in _classes(element)):
        return True
    if element.tag == "img" and _is_in_math(element):
        return True
    return any(map(_displays, islice(element.iterancestors(), MAX_AROUND)))


def _displays(outer: etree._Element) -> bool:
    """Whether an element shows formulas on lines of their own, as KaTeX and MathJax mark it."""
    is_named_so = any("display" in name.lower() for name in _classes(outer))
    return is_named_so or (outer.tag == "mjx-container" and outer.get("display") == "true")


def _ends_with_math(before: etree._Element | None) -> bool:
    """Whether an element is a <math> or the parent of one, with no text after it."""
    if before is None or (before.tail or "").strip():
        return False
    return before.tag == "math" or before.find("math") is not None


def _tex_of_script(script: etree._Element) -> str:
    """The TeX of a script for MathJax; empty for other scripts."""
    if (script.get("type") or "").startswith("math/tex"):
        return (script.text or "").strip()
    return ""


def is_drawing(element: etree._Element) -> bool:
    """Whether a <span> only draws a formula whose source stands beside it."""
    name = (element.get("class") or "").partition(" ")[0]
    if name not in DRAWINGS:
        return False
    if name == "katex-html":
        before = element.getprevious()
        return before is not None and before.find(".//math") is not None
    # MathJax puts the drawing before the source, sometimes inside another element.
    outer = element.getparent()
    return _is_source(element.getnext()) or (outer is not None and _is_source(outer.getnext()))


def _is_source(after: etree._Element | None) -> bool:
    return after is not None and after.tag == "script" and _tex_of_script(after) != ""


def _classes(element: etree._Element | None) -> list[str]:
    if element is None:
        return []
    return (element.get("class") or "").split()


def _on_one_line(source: str) -> str:
    r"""The source of a formula on one line, without the `{\displaystyle ...}` around it."""
    styled = _STYLED.fullmatch(source.strip())
    return fold_space(styled[1] if styled else source)
