"""Formulas stand in the sentences around them, once, as TeX if the page has it."""

from crawler.extraction.output.markdown import markdown
from crawler.page.page import Extraction, Page

MATHML = r"<math{}><semantics><mrow><mi>x</mi><mo>=</mo><mi>d</mi></mrow>{}</semantics></math>"
NOTE = r'<annotation encoding="application/x-tex">x = d^2</annotation>'
ALTTEXT = r' alttext="{\displaystyle x=d^{2}}"'
FALLBACK = r'<img class="mwe-math-fallback-image-inline" src="x.svg" alt="{\displaystyle x=d^{2}}">'

KATEX = '<span class="katex"><span class="katex-mathml">{}</span><span class="katex-html">x=d2</span></span>'
DRAWN = '<span class="MathJax"><nobr>x=d</nobr></span>'
ASSISTIVE = (
    "<mjx-container><mjx-math><mjx-mi><mjx-c></mjx-c></mjx-mi></mjx-math>"
    "<mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml></mjx-container>"
)


def test_a_formula_in_a_sentence() -> None:
    rows = [
        (MATHML.format("", ""), "x=d"),
        (MATHML.format("", NOTE), "x = d^2"),
        (MATHML.format(ALTTEXT, ""), "x=d^{2}"),
        (f"<span><span>{MATHML.format(ALTTEXT, '')}</span>{FALLBACK}</span>", "x=d^{2}"),
        (FALLBACK, "x=d^{2}"),
        ('<img class="latex" alt="x = d^2" src="1.png">', "x = d^2"),
        ('<script type="math/tex">x = d^2</script>', "x = d^2"),
        (DRAWN + '<script type="math/tex">x = d</script>', "x = d"),
        (KATEX.format(MATHML.format("", NOTE)), "x = d^2"),
        (ASSISTIVE, "x^2"),
    ]
    for source, tex in rows:
        page = Page.from_html(f"<p>A map with ({source}) is flat.</p>")
        assert [block.text for block in page.blocks] == [f"A map with ({tex}) is flat."]
        assert markdown(page, Extraction("", "", blocks=page.blocks)) == f"A map with (${tex}$) is flat."


def test_what_is_no_formula() -> None:
    rows = [
        ('<img class="photo" alt="a bee" src="1.png">', ""),
        ("<script>x = d</script>", ""),
        (DRAWN, "x=d"),
        (KATEX.format("x=d"), "x=d x=d2"),
    ]
    for source, text in rows:
        page = Page.from_html(f"<p>A map with ({source}) is flat.</p>")
        assert "$" not in markdown(page, Extraction("", "", blocks=page.blocks))
        assert page.blocks[0].text.replace(" ", "") == f"A map with ({text}) is flat.".replace(" ", "")


def test_a_formula_on_a_line_of_its_own() -> None:
    rows = [
        '<div><script type="math/tex; mode=display">x</script></div>',
        '<p><math display="block"><mi>x</mi></math></p>',
        '<div class="math"><p><img src="1.png" alt="x"></p></div>',
        '<p><span class="katex-display"><span class="katex"><math><mi>x</mi></math></span></span></p>',
        '<mjx-container display="true"><mjx-assistive-mml><math><mi>x</mi></math></mjx-assistive-mml></mjx-container>',
    ]
    for source in rows:
        page = Page.from_html(f"<p>A map costs $5 with</p>{source}")
        assert markdown(page, Extraction("", "", blocks=page.blocks)) == "A map costs $5 with\n\n$$x$$"


def test_tex_that_a_script_draws() -> None:
    rows = [
        (r"A map \(x_1\) is flat.", "A map $x_1$ is flat."),
        (r"A map \[x*y*z\] is flat.", "A map $$x*y*z$$ is flat."),
        ("A map $$x$$ is flat.", "A map $$x$$ is flat."),
        ("A map $x=d$ costs $5.", r"A map $x=d$ costs \$5."),
        ("It costs $5 or $6.", "It costs $5 or $6."),
        ("Set $HOME and$ PATH.", r"Set \$HOME and\$ PATH."),
        (r"C:\bees and \*.", r"C:\bees and \\\*."),
        (r"Use \( and \) to group.", r"Use \\( and \\) to group."),
        ("x=$a+$b", "x=$a+$b"),
        (r"\(a$ &lt;img src=x> [j](javascript:x) $b=1\)", r"$a\$ \lt img src=x\gt  [j] (javascript:x) \$b=1$"),
    ]
    for text, written in rows:
        page = Page.from_html(f"<p>{text}</p>")
        assert [block.text for block in page.blocks] == [text.replace("&lt;", "<")]
        assert markdown(page, Extraction("", "", blocks=page.blocks)) == written


def test_a_price_beside_a_formula() -> None:
    page = Page.from_html("<p>It costs $5 or <math><mi>x</mi></math>.")
    assert markdown(page, Extraction("", "", blocks=page.blocks)) == r"It costs \$5 or $x$."


def test_mathml_as_tex() -> None:
    rows = [
        ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", r"\frac{a}{b+1}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>10</mn></msubsup>", "x_i^{10}"),
        ("<msqrt><mi>x</mi></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>", r"\sqrt{x}\sqrt[3]{y}"),
        (
            "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>α</mi><mi>i</mi></msub>",
            r"\sum_i^n\alpha_i",
        ),
        ("<mi>α</mi><mi>b</mi>", r"\alpha b"),
        ("<mi>sin</mi><mi>x</mi><mo>≤</mo><mi>rate</mi>", r"\sin x\leq\mathrm{rate}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mi mathvariant='double-struck'>R</mi>", r"\bar{x}\mathbb{R}"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>",
            r"\begin{matrix} 1 & 2 \end{matrix}",
        ),
        ("<mtext>if</mtext><mspace></mspace><mo>&InvisibleTimes;</mo><mi>x</mi>", r"\text{if} x"),
        ("<msup><mi>f</mi><mo>′</mo></msup>", "f'"),
        ("<mrow>" * 60 + "<mi>x</mi>", "x"),
        ("<mfrac><mi>a</mi></mfrac>", "a"),
    ]
    for mathml, tex in rows:
        assert [block.text for block in Page.from_html(f"<p>a <math>{mathml}</math></p>").blocks] == [f"a {tex}"]


def test_two_formulas_side_by_side() -> None:
    page = Page.from_html(f'<p>{MATHML.format(ALTTEXT, "")}{FALLBACK} and <img class="tex" alt="E=mc^2"></p>')
    assert [block.text for block in page.blocks] == ["x=d^{2} and E=mc^2"]


def test_mathml_holds_no_html() -> None:
    page = Page.from_html("<p>a <math><mtext>$ &lt;img src=x> $</mtext></math></p>")
    assert markdown(page, Extraction("", "", blocks=page.blocks)) == r"a $\text{\$ \lt img src=x\gt  \$}$"
