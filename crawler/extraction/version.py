"""Which version of the extraction made a text.

`EXTRACTION` is raised by one with each change after which a method may give another text for some page: so that what
the same page said before is not compared with what it says now, and a new release finds no page changed for its own
sake. A change of weights is one; a change that makes a method faster is none. tests/extraction/test_version.py fails
when the texts of the test pages change and this number does not.
"""

from crawler.extraction.auto import BALANCE

EXTRACTION = 1


def version(method: str, favour: str = BALANCE) -> str:
    """The version of what a method makes of pages.

    >>> version("auto"), version("auto", "recall"), version("crunch")
    ('1:auto', '1:auto/recall', '1:crunch')
    """
    return f"{EXTRACTION}:{method}" + (f"/{favour}" if favour != BALANCE else "")
