"""What somebody may put into titles, addresses, names and answers, so that more than words comes of them."""

ATTACKS = (
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "\"onmouseover='alert(1)",
    "'><img src=x onerror=alert(1)>",
    "javascript:alert(1)//",
    "{{ 7 * 7 }} {% raw %} {0} {a} {n}",
    "\u202eevil\u2066 \x01\x1b[31m",
    "a" * 10_000,
)
BEYOND_TEXT = "\u202eevil\u2066 \x00\x1b[2J \ud800"
"""What no database keeps, and answers and files can have."""
SIGNS = ("<script>alert", "<img src=x", '"onmouseover', 'href="javascript:', "\x1b", "\x00")


def acting(html: str) -> list[str]:
    """What in a page would be more than words."""
    return [sign for sign in SIGNS if sign in html]
