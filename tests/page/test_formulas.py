"""Formulas stand in the sentences around them, once, as TeX if the page has it."""

import pytest

from crawler.extraction.output.markdown import markdown
from crawler.page.page import Page

MATHML = r"<math{}><semantics><mrow><mi>x</mi><mo>=</mo><mi>d</mi></mrow>{}</semantics></math>"
NOTE = r'<annotation encoding="application/x-tex">x = d^2</annotation>'
ALTTEXT = r' alttext="{\displaystyle x=d^{2}}"'
FALLBACK = r'<img class="mwe-math-fallback-image-inline" src="x.svg" alt="{\displaystyle x=d^{2}}">'

KATEX = '<span class="katex"><span class="katex-mathml">{}</span><span class="katex-html">x=d2</span></span>'


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (MATHML.format("", ""), "x=d"),
        (MATHML.format("", NOTE), "x = d^2"),
        (MATHML.format(ALTTEXT, ""), "x=d^{2}"),
        (f"<span><span>{MATHML.format(ALTTEXT, '')}</span>{FALLBACK}</span>", "x=d^{2}"),
        (FALLBACK, "x=d^{2}"),
        ('<img class="latex" alt="x = d^2" src="1.png">', "x = d^2"),
        ('<img class="photo" alt="a bee" src="1.png">', ""),
        ('<script type="math/tex">x = d^2</script>', "x = d^2"),
        ('<span class="MathJax_Preview"></span><script type="math/tex; mode=display">x</script>', "x"),
        ('<span class="MathJax"><nobr>x=d</nobr></span><script type="math/tex">x = d</script>', "x=d"),
        ("<script>x = d</script>", ""),
        (KATEX.format(MATHML.format("", NOTE)), "x=d2"),
    ],
)
def test_a_formula_in_a_sentence(source: str, text: str) -> None:
    page = Page.from_html(f"<p>A map with ({source}) is flat.</p>")
    assert [block.text for block in page.blocks] == [f"A map with ({text}) is flat."]
    assert markdown(page, page.blocks).replace("\\", "") == f"A map with ({text}) is flat."


def test_two_formulas_side_by_side() -> None:
    page = Page.from_html(f'<p>{MATHML.format(ALTTEXT, "")}{FALLBACK} and <img class="tex" alt="E=mc^2"></p>')
    assert [block.text for block in page.blocks] == ["x=d^{2} and E=mc^2"]
