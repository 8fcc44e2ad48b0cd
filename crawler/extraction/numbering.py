"""What the items of a list begin with in Markdown."""

from lxml import etree


def item_marks(item: etree._Element) -> dict[etree._Element, str]:
    """What begins each item of the list that this one is in: a dash, or its number where they are in order."""
    home = item.getparent()
    if home is None or home.tag != "ol":
        return {item: "- "}
    marks, number = {}, _number(home.get("start"), 1) - 1
    for child in home.iterchildren("li"):
        number = _number(child.get("value"), number + 1)
        marks[child] = f"{number}. "
    return marks


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) <= 9 else otherwise
