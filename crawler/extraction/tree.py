"""What several methods ask of the tree, answered in time that does not grow with its depth."""

from collections.abc import Callable, Iterable, Iterator

from lxml import etree

from crawler.page.contents import Block

Element = etree._Element


def homes(elements: Iterable[Element | None], is_home: Callable[[Element], bool]) -> Iterator[Element | None]:
    """For each element the innermost one around it, itself included, that is a home; None where there is none."""
    known: dict[Element | None, Element | None] = {None: None}
    for element in elements:
        if element not in known:
            path = []
            above = element
            while above is not None and above not in known and not is_home(above):
                path.append(above)
                above = above.getparent()
            known.update(dict.fromkeys([*path, above], known.get(above, above)))
        yield known[element]


def spans(blocks: tuple[Block, ...]) -> dict[Element, tuple[int, int]]:
    """For each element with text the indexes of its first block and of the one after its last."""
    # Twice: text in an inline element is its container's, so blocks may leave an element and come back.
    ends = _reach(blocks, range(len(blocks) - 1, -1, -1))
    return {element: (first, ends[element] + 1) for element, first in _reach(blocks, range(len(blocks))).items()}


def _reach(blocks: tuple[Block, ...], order: range) -> dict[Element, int]:
    """For each element the index of the block in it that comes first in this order."""
    reached: dict[Element, int] = {}
    for index in order:
        element: Element | None = blocks[index].element
        while element is not None and element not in reached:
            reached[element] = index
            element = element.getparent()
    return reached
