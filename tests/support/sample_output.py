"""Compares what a page of the documentation shows of its commands with what they print.

Pages arrive in another order in each run, so the figures of the topic and of images may differ a little.
"""

import re
from textwrap import dedent

LINES = r"(?:(?! *```).*\n)*"
SAMPLE = re.compile(rf"^( *)```sh\n{LINES}\1```\n\n\1```text\n({LINES})\1```$", re.MULTILINE)
"""Output that is shown right below its commands."""
VARIABLE = re.compile(r"127\.0\.0\.1:\d+|\d+\.\d(?= (?:s\b|a second|[kM]B|秒|个))|(?<=每秒 )\d+\.\d")
"""The port, and times, speeds and sizes, in which a page's time of fetch is."""
PASSES = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:]+(?:\+00:00)?|\w+day \d+ \w+ \d{4} [\d:]+"
    r"|\d+ (?:(?:h|min|s)\b|小时|秒前)|[\d,]+(?=  0$)",
    re.MULTILINE,
)
"""Times, also until the next page is due or a job starts; and the pages a second of an evaluation without failures."""
NUMBER = re.compile(r"\d+(?:\.\d+)?")
VARIES = re.compile(
    r"On topic:|Images:|export: .* of 38 pages|切题：|图片：|export: .* 的 38 个页面|  addresses  "
    r"|\d\.\d\d  (?:en|zh)  | *\"relevance\""
)
"""Beginnings of lines with figures that vary."""
MOST_DIFFERENCE = 0.25
"""Of such a figure, and of a relevance, which is at most 1; three more or fewer of a count are no difference."""


def steady(text: str) -> str:
    """Lines without what differs in each run, and with columns of the same width."""
    return PASSES.sub("#", VARIABLE.sub("#", re.sub(r"(?<=\S) {3,}", "  ", text)))


def matches(shown: str, line: str) -> bool:
    """Whether a command may print a line like the one that is shown; `...` stands for any text.

    >>> matches("On topic: 15 of 38 pages read (39%).", "On topic: 13 of 38 pages read (34%).")
    True
    >>> matches("38 items in a.jsonl.", "37 items in a.jsonl."), matches("0.63  zh  蜂", "0.00  zh  蜂")
    (False, False)
    """
    words = "".join(re.escape(part) for part in NUMBER.sub("\0", shown)).replace("\0", r"(\d+(?:\.\d+)?)")
    numbers = re.fullmatch(words.replace(re.escape("..."), ".*").replace("……", ".*"), line)
    if numbers is None:
        return False
    pairs = [(float(own), float(other)) for own, other in zip(NUMBER.findall(shown), numbers.groups(), strict=True)]
    if not VARIES.match(shown):
        return all(own == other for own, other in pairs)
    return all(abs(own - other) <= most_difference(own) for own, other in pairs)


def most_difference(figure: float) -> float:
    return MOST_DIFFERENCE if figure < 1 else max(3.0, MOST_DIFFERENCE * figure)


def lines_not_printed(shown: str, printed: str) -> list[str]:
    """The lines of a sample that are not in an output; `...` alone stands for any lines.

    >>> lines_not_printed("2 of 3 in 1.2 s\\n...\\n5 left\\n", "2 of 3 in 0.9 s\\n6 left\\n")
    ['5 left']
    """
    output = steady(printed).splitlines()
    return [
        line
        for line in steady(shown).splitlines()
        if line.strip() != "..." and not any(matches(line, other) for other in output)
    ]


def samples(page: str) -> list[str]:
    """The outputs that a page shows right below their commands.

    >>> samples("1. a\\n\\n   ```sh\\n   pwd\\n   ```\\n\\n   ```text\\n   /\\n   ```\\n\\nb\\n\\n```text\\nc\\n```\\n")
    ['/\\n']
    """
    return [dedent(shown) for _, shown in SAMPLE.findall(page)]
