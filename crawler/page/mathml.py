"""Translates MathML to TeX, for formulas whose TeX the page does not contain."""

import re
from itertools import islice

from lxml import etree

from crawler.page.text import fold_space

MAX_DEPTH = 40
"""Levels of elements that are translated; of deeper elements only the characters are taken."""
MAX_ELEMENTS = 2_000
"""Elements of a formula that is translated; of a larger formula only the characters are taken."""
COMMANDS = dict(
    pair.split("=")
    for pair in (
        "α=alpha β=beta γ=gamma δ=delta ϵ=epsilon ε=varepsilon ζ=zeta η=eta θ=theta ϑ=vartheta ι=iota κ=kappa λ=lambda"
        " μ=mu ν=nu ξ=xi π=pi ρ=rho σ=sigma ς=varsigma τ=tau υ=upsilon φ=varphi ϕ=phi χ=chi ψ=psi ω=omega Γ=Gamma"
        " Δ=Delta Θ=Theta Λ=Lambda Ξ=Xi Π=Pi Σ=Sigma Υ=Upsilon Φ=Phi Ψ=Psi Ω=Omega ∑=sum ∏=prod ∐=coprod ∫=int ∬=iint"
        " ∮=oint ⋃=bigcup ⋂=bigcap ⊕=oplus ⊗=otimes ≤=leq ⩽=leqslant ≥=geq ⩾=geqslant ≠=neq ≈=approx ≡=equiv ∼=sim"
        " ≃=simeq ≅=cong ∝=propto ≪=ll ≫=gg ∈=in ∉=notin ∋=ni ⊂=subset ⊆=subseteq ⊃=supset ⊇=supseteq ∪=cup ∩=cap"
        " ∅=emptyset ∖=setminus ∀=forall ∃=exists ¬=neg ∧=wedge ∨=vee →=to ←=leftarrow ↔=leftrightarrow ⇒=Rightarrow"
        " ⇐=Leftarrow ⇔=Leftrightarrow ↦=mapsto ⟶=longrightarrow ∞=infty ∂=partial ∇=nabla ×=times ÷=div ±=pm ∓=mp"
        " ⋅=cdot ·=cdot ∘=circ ∙=bullet …=ldots ⋯=cdots ⋮=vdots ⋱=ddots ℓ=ell ℏ=hbar ℜ=Re ℑ=Im ⟨=langle ⟩=rangle"
        " ‖=| ∥=parallel ⊥=perp ⊤=top ∣=mid ∠=angle √=surd ′=prime ″=prime\\prime ⌊=lfloor ⌋=rfloor ⌈=lceil ⌉=rceil"
    ).split()
)
"""The TeX command for each character, without its backslash."""
SIGNS = {"−": "-", "∗": "*", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "$": r"\$", "_": r"\_"}
SIGNS |= dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", "")
"""Other characters that TeX writes in a different way; invisible operators are left out."""
FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot deg det dim exp gcd hom inf ker lg lim ln log max min".split()
)
FUNCTIONS |= frozenset("sec sin sinh sup tan tanh Pr csc coth".split())
ACCENTS = {"¯": "bar", "‾": "bar", "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec"}
ACCENTS |= {"˙": "dot", ".": "dot", "¨": "ddot", "⏞": "overbrace"}
UNDER_ACCENTS = {"_": "underline", "⏟": "underbrace"}
LIMITS = frozenset(("∑", "∏", "∐", "∫", "∬", "∮", "⋃", "⋂", "lim", "max", "min", "sup", "inf", "argmax", "argmin"))
"""Operators whose parts below and above are limits, which TeX writes with _ and ^."""
FONTS = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak", "bold": "mathbf"}
_ENDS_WITH_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_LONGEST_COMMAND = 20
"""Characters at the end of a text in which a command is looked for."""


def tex(math: etree._Element) -> str:
    """The TeX of a <math>."""
    if next(islice(math.iter(), MAX_ELEMENTS, None), None) is not None:  # more than MAX_ELEMENTS
        return fold_space("".join(_characters(math)))
    return fold_space(_row(math, 0))


def _characters(math: etree._Element) -> list[str]:
    """The texts of the elements in a formula, without annotations."""
    parts = math.iter(etree.Element)
    return [part.text for part in parts if not str(part.tag).startswith("annotation") and part.text]


def _row(element: etree._Element, depth: int) -> str:
    """The TeX of the children of an element, joined."""
    return _joined([_tex(child, depth + 1) for child in element.iterchildren(etree.Element)])


def _joined(parts: list[str]) -> str:
    """The parts joined, with a space between a command and a letter."""
    joined = ""
    for part in parts:
        if part[:1].isalpha() and _ENDS_WITH_COMMAND.search(joined[-_LONGEST_COMMAND:]):
            joined += " "
        joined += part
    return joined


def _tex(element: etree._Element, depth: int) -> str:
    """The TeX of an element in a formula."""
    tag = str(element.tag).rpartition(":")[2]
    if depth > MAX_DEPTH:
        return "".join(_characters(element))

    # Elements without children to translate, and tables, whose rows are translated by `_cells`.
    if tag in TOKENS:
        return _token(element, tag)
    if tag in NOTHING:
        return NOTHING[tag]
    if tag == "mtable":
        rows = r" \\ ".join(_cells(row, depth + 1) for row in element.iterchildren("mtr", "mlabeledtr"))
        return rf"\begin{{matrix}} {rows} \end{{matrix}}"

    parts = [_tex(child, depth + 1) for child in element.iterchildren(etree.Element)]
    if tag in SCRIPTS and len(parts) == len(SCRIPTS[tag]):
        return _scripted(element, tag, parts)
    if tag == "semantics":
        return parts[0] if parts else ""
    if tag == "mfenced":
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    if tag == "msqrt":
        return rf"\sqrt{{{_joined(parts)}}}"
    if tag in PAIRS and len(parts) == 2:
        return PAIRS[tag].format(*parts)
    return _joined(parts)


def _cells(row: etree._Element, depth: int) -> str:
    """The TeX of a row of a table."""
    return " & ".join(_row(cell, depth) for cell in row.iterchildren("mtd"))


TOKENS = frozenset(("mi", "mn", "mo", "ms", "mtext"))
"""Elements that contain only characters."""
NOTHING = {"mspace": " ", **dict.fromkeys(("annotation", "annotation-xml", "mphantom", "none", "mprescripts"), "")}
"""Elements that show nothing, and the text that is written for them."""
PAIRS = {"mfrac": r"\frac{{{}}}{{{}}}", "mroot": r"\sqrt[{1}]{{{0}}}"}
"""The TeX of elements with two children."""
SCRIPTS = {"msub": " _", "msup": " ^", "msubsup": " _^", "munder": " _", "mover": " ^", "munderover": " _^"}
"""For each child of an element, a mark: a space for the base, `_` for a part below it, `^` for a part above it."""


def _scripted(element: etree._Element, tag: str, parts: list[str]) -> str:
    """The TeX of one of the `SCRIPTS`, given the TeX of its children."""
    base = parts[0]

    # An accent, or a part above or below a base that takes no limits.
    if tag in ("munder", "mover"):
        base_text, mark = (fold_space("".join(_characters(child))) for child in element.iterchildren(etree.Element))
        accents, command = (ACCENTS, "overset") if tag == "mover" else (UNDER_ACCENTS, "underset")
        if mark in accents:
            return rf"\{accents[mark]}{{{base}}}"
        if base_text not in LIMITS:
            return rf"\{command}{{{parts[1]}}}{{{base}}}"

    # Subscripts and superscripts. They apply to the whole base, so a base such as `a+b` is put in braces.
    if len(base) > 1 and not base.startswith("\\") and not base.isalnum():
        base = f"{{{base}}}"
    primes = {r"\prime": "'", r"\prime\prime": "''"}
    if tag == "msup" and parts[1] in primes:
        return base + primes[parts[1]]
    return base + "".join(f"{mark}{_grouped(part)}" for mark, part in zip(SCRIPTS[tag][1:], parts[1:], strict=True))


def _grouped(part: str) -> str:
    """A part in braces, unless it is one character."""
    if len(part) == 1:
        return part
    return f"{{{part}}}"


def _token(element: etree._Element, tag: str) -> str:
    """The TeX of one of the `TOKENS`."""
    text = fold_space(element.text or "")
    if tag == "mtext":
        return rf"\text{{{text}}}" if text else ""
    if tag == "mi" and text in FUNCTIONS:
        return rf"\{text}"
    signs = _joined([_sign(sign) for sign in text])
    font = FONTS.get(element.get("mathvariant", ""), "")
    if not font and tag == "mi" and len(text) > 1 and text.isalpha():
        font = "mathrm"
    if font and signs:
        return rf"\{font}{{{signs}}}"
    return signs


def _sign(sign: str) -> str:
    if sign in COMMANDS:
        return f"\\{COMMANDS[sign]}"
    return SIGNS.get(sign, sign)
