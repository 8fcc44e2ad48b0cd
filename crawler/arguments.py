"""The arguments of a crawl (`-a name=value`), parsed and checked before anything starts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from crawler.doors import Door, load
from crawler.errors import ArgumentError, MissingPartError, OwnFieldsError, TopicError
from crawler.frontier.scope import ScopeKind
from crawler.metadata.language import CODES, normalise
from crawler.metadata.own_fields import OwnFields, read_own_fields
from crawler.page.text import words
from crawler.rights.purpose import LABEL, LABEL_ONLY, PURPOSES, Purpose
from crawler.topic.stop_rule import StopWhen
from crawler.topic.topic import Topic, read_topic
from crawler.translation.message import N_, Message, localized
from crawler.translation.nearest import nearest
from crawler.urls.parsing import absolute

SPIDER = "topic"
"""The name of the only spider."""
NAME = re.compile(r"\w[\w.-]*(?<!\.)")
MAX_NAME_BYTES = 200  # file systems allow 255 with the ending
# Device names on Windows, with any ending.
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
# Endings that the crawler itself uses: for previous files, and for the lists of images of any worker.
FILES_OF_OTHERS = re.compile(r".*\.(previous|images)(-\d+)?", re.IGNORECASE)
MAX_SEEDS_BYTES = 100_000_000  # of a file of addresses; a device such as /dev/zero never ends
MAX_WORKERS = 64
AUTO = 0
"""The number of workers that stands for `auto`."""
SHARE = re.compile(r"[0-9]{0,6}\.?[0-9]{1,6}")
"""The spelling of a number without a sign; `_share` checks that it is at most 1."""
NO_TOPIC = Topic()
DEMO_ALONE = N_("seed 'demo' cannot be combined with other seeds")
# A topic that looks like the name of a file. Whether the file exists is not checked: the topic may come from the form
# of a web page.
TEXT_FILE = re.compile(
    r"\S+\.(txt|text|md|rst|csv|tsv|jsonl?|ya?ml|tml|ini|cfg|conf|xml|html?|docx?|odt|pdf)", re.IGNORECASE
)
JOB = "_job"
"""The argument in which Scrapyd passes the number of a run to every spider."""
LISTS = ("seeds", "allow", "deny", "lang", "purpose")
"""Arguments that a script may pass as a list of strings; each string is one value, even if it contains commas."""
# A comma ends an address only if a space or another address follows, as addresses may contain commas.
BETWEEN_SEEDS = re.compile(r"\s*,\s+|\s*,(?=[a-z][a-z0-9+.-]*:)|\s+", re.IGNORECASE)
BETWEEN_WORDS = re.compile(r"[,\s]+")
# A comma or space inside {} or [] belongs to the pattern.
BETWEEN_PATTERNS = re.compile(r"[,\s]+(?![^\[{]*[\]}])")


class ItemMarkdown(StrEnum):
    """Whether items have their text as Markdown."""

    NO = "no"
    YES = "yes"
    LINKS = "links"
    """Markdown with the addresses of links."""


class Refresh(StrEnum):
    """Which stored pages a new round requests again."""

    DUE = "due"
    ALL = "all"


class Render(StrEnum):
    """Which pages are rendered in a browser."""

    AUTO = "auto"
    """Only pages that seem to need it."""
    NEVER = "never"
    ALWAYS = "always"


YES_OR_NO = {"yes": True, "no": False}

Choice = TypeVar("Choice")
Kind = TypeVar("Kind", bound=StrEnum)


def wrong_argument(argument: str, sentence: str, /, **values: object) -> ArgumentError:
    """An error about the value of an argument; a form shows it below the argument's field."""
    return ArgumentError("{argument}={wrong}", argument=argument, wrong=Message(sentence, values))


@dataclass(frozen=True)
class Arguments:
    """The arguments of one crawl, each explained in ARGUMENTS."""

    seeds: tuple[str, ...]
    demo: bool = False
    topic: Topic = NO_TOPIC
    scope: ScopeKind = ScopeKind.SITE
    allow: tuple[re.Pattern[str], ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    max_pages: int | None = None
    max_depth: int | None = None
    min_relevance: float | None = None
    min_chance: float | None = None
    stop_when: StopWhen | None = None
    lang: frozenset[str] = frozenset()
    name: str = "topic"
    images: bool = True
    markdown: ItemMarkdown = ItemMarkdown.NO
    documents: bool = False
    quality: bool = False
    listings: bool = False
    fresh: bool = False
    retopic: bool = False
    """Whether a crawl that was about another topic continues with this one."""
    extractor: str = ""
    """The extraction method, if it is not that of the settings."""
    favour: str = "balance"
    refresh: Refresh = Refresh.DUE
    fields: OwnFields | None = None
    purpose: Purpose = LABEL_ONLY
    render: Render = Render.AUTO
    workers: int = AUTO
    """`AUTO` starts further workers while those that run are busy all the time."""


def parse(texts_or_lists: Mapping[str, object]) -> Arguments:
    """The arguments of a crawl; raises an ArgumentError that says what is wrong and what is allowed."""
    unknown = sorted(set(texts_or_lists) - {*ARGUMENTS, JOB})
    if unknown:
        near = nearest(unknown[0], ARGUMENTS)
        raise ArgumentError("there is no argument {name}; {near}", name=repr(unknown[0]), near=near)
    texts = {name: _text(name, value) for name, value in texts_or_lists.items() if name != JOB and value is not None}
    if not texts.get("seeds"):
        raise ArgumentError("no seeds; give -a seeds=URL[,URL...], a file of addresses, a sitemap, a feed, or demo")
    values = {name: ARGUMENTS[name].read(text) for name, text in texts.items() if text}
    is_demo = values["seeds"] == ()
    arguments = Arguments(**values, demo=is_demo)  # type: ignore[arg-type]
    if arguments.retopic and not (arguments.topic.words or arguments.topic.examples):
        raise ArgumentError("retopic=yes needs a topic in words or texts, by which stored pages are scored at once")
    return arguments


def _text(name: str, value: object) -> str | list[str]:
    """The text of an argument, or of each value in its list."""
    if name in LISTS and isinstance(value, list | tuple):
        texts = [str(item).strip() for item in value]
        return [text for text in texts if text]
    return str(value).strip()


# The functions below read the value of one argument, as `_seeds` does, or return a function that does so, as `_choice`.


def _seeds(value: str | Sequence[str]) -> tuple[str, ...]:
    """The seed addresses; empty for the demo, whose address is not known until its site is served."""
    if value in ("demo", ["demo"]):
        return ()
    if not isinstance(value, str):
        return tuple(dict.fromkeys(map(_seed, value)))
    begins_with_scheme = ":" in value.partition("/")[0]  # or with a drive of Windows, such as C:
    if begins_with_scheme and not _is_file(value):
        return tuple(dict.fromkeys(_seed(url) for url in BETWEEN_SEEDS.split(value.strip(" ,")) if url))
    return _seeds_of_file(Path(value))


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except OSError:  # longer than any path, as a list of addresses may be
        return False


def _seeds_of_file(path: Path) -> tuple[str, ...]:
    lines = None  # stays None if the file is too large
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SEEDS_BYTES + 1)
        if len(content) <= MAX_SEEDS_BYTES:
            lines = content.decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise wrong_argument(
            "seeds",
            "{path} cannot be read as a file of addresses ({why}); "
            "give a readable file with one address a line, http:// or https:// addresses, or demo",
            path=_shown(str(path)),
            why=getattr(error, "strerror", None) or Message("not UTF-8 text"),
        ) from None

    if lines is None:
        raise wrong_argument(
            "seeds",
            "{path} is larger than {megabytes} MB; give a smaller file with one address a line",
            path=_shown(str(path)),
            megabytes=MAX_SEEDS_BYTES // 1_000_000,
        )
    urls = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not urls:
        raise wrong_argument(
            "seeds", "{path} contains no address; give a file with one address a line", path=_shown(str(path))
        )
    return tuple(dict.fromkeys(map(_seed, urls)))


def _seed(url: str) -> str:
    if url == "demo":
        raise ArgumentError(DEMO_ALONE)
    address = None
    if re.fullmatch(r"https?://[^/\s]\S*", url, re.IGNORECASE):
        address = absolute("", url)
    if address is None:
        raise ArgumentError(
            "seed {seed} is not an address to crawl; allowed are http:// and https:// addresses", seed=_shown(url)
        )
    return address


def _choice(name: str, allowed: Mapping[str, Choice]) -> Callable[[str], Choice]:
    def read(value: str) -> Choice:
        if value not in allowed:
            raise wrong_argument(
                name, "{value} is not known; allowed are {allowed}", value=_shown(value), allowed=list(allowed)
            )
        return allowed[value]

    return read


def _member(name: str, kinds: type[Kind]) -> Callable[[str], Kind]:
    return _choice(name, {str(kind): kind for kind in kinds})


# The methods are imported late: they import numpy, which is slow, and other wrong arguments are reported before that.


def _extractor(value: str) -> str:
    from crawler.extraction import EXTRACTORS

    return _choice("extractor", {name: name for name in EXTRACTORS})(value)


def _favour(value: str) -> str:
    from crawler.extraction.auto import FAVOURS

    return _choice("favour", {name: name for name in FAVOURS})(value)


def _quality(value: str) -> bool:
    measures_quality = _choice("quality", YES_OR_NO)(value)
    if measures_quality:
        try:
            load(Door.QUALITY, "measured")
        except MissingPartError as error:
            raise ArgumentError(error.message) from None
    return measures_quality


def _fields(value: str) -> OwnFields:
    try:
        return read_own_fields(Path(value))
    except OwnFieldsError as error:
        raise ArgumentError(error.message) from None


def _number(name: str, least: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", value) or int(value) < least:
            raise wrong_argument(
                name, "{value} is wrong; allowed are whole numbers from {least} on", value=_shown(value), least=least
            )
        return int(value)

    return read


def _patterns(name: str) -> Callable[[str | Sequence[str]], tuple[re.Pattern[str], ...]]:
    def read(value: str | Sequence[str]) -> tuple[re.Pattern[str], ...]:
        patterns = _values(value, BETWEEN_PATTERNS)
        try:
            return tuple(map(re.compile, patterns))
        except (re.error, OverflowError, RecursionError) as error:
            raise wrong_argument(
                name,
                "{value} is not a regular expression ({why}); "
                "allowed are regular expressions, separated by commas or spaces",
                value=_shown(value if isinstance(value, str) else " ".join(value)),
                why=" ".join(str(error).split()),
            ) from None

    return read


def _values(value: str | Sequence[str], separator: re.Pattern[str] = BETWEEN_WORDS) -> list[str]:
    """The values in a text, or in a list of a script."""
    if isinstance(value, str):
        value = separator.split(value)
    return [text for text in value if text]


def _languages(value: str | Sequence[str]) -> frozenset[str]:
    codes = {code_text: normalise(code_text) for code_text in _values(value)}
    for code_text, code in codes.items():
        if code not in CODES:
            raise wrong_argument(
                "lang", "{code} is not known; allowed are codes such as en, zh, de, fr, ja, ru", code=_shown(code_text)
            )
    return frozenset(code for code in codes.values() if code)


def _purpose(value: str | Sequence[str]) -> Purpose:
    names = _values(value)
    for name in names:
        _choice("purpose", dict.fromkeys(PURPOSES))(name)
    if not names:
        return LABEL_ONLY
    return Purpose.of(names)


def _name(value: str) -> str:
    if not NAME.fullmatch(value) or DEVICES.fullmatch(value) or len(value.encode()) > MAX_NAME_BYTES:
        raise wrong_argument(
            "name",
            "{name} cannot be a file name; allowed are letters, digits, '_', '-' and '.', at most {most} bytes",
            name=_shown(value),
            most=MAX_NAME_BYTES,
        )
    if FILES_OF_OTHERS.fullmatch(value):
        raise wrong_argument(
            "name",
            "{name} may conflict with the files of another crawl; names may not end in .previous or .images",
            name=_shown(value),
        )
    return value


def _topic(value: str) -> Topic:
    if value.lower().endswith(".toml"):
        try:
            return read_topic(Path(value))
        except TopicError as error:
            raise ArgumentError(error.message) from None
    if not words(value):
        raise wrong_argument(
            "topic", "{topic} has no word in it; give words, a sentence or a file FILE.toml", topic=_shown(value)
        )
    if TEXT_FILE.fullmatch(value):  # otherwise the name of the file would be the topic
        raise wrong_argument(
            "topic", "{topic} looks like a file name; give words, a sentence or FILE.toml", topic=_shown(value)
        )
    return Topic.of(value)


def _share(name: str) -> Callable[[str], float]:
    def read(value: str) -> float:
        if not SHARE.fullmatch(value) or float(value) > 1:
            raise wrong_argument(name, "{value} is wrong; allowed are numbers from 0 to 1", value=_shown(value))
        return float(value)

    return read


def _stop_when(value: str) -> StopWhen:
    try:
        return StopWhen.of(value)
    except ValueError:
        raise wrong_argument(
            "stop_when",
            "{value} is wrong; allowed is harvest<NUMBER, with a number between 0 and 1 such as harvest<0.05",
            value=_shown(value),
        ) from None


def _workers(value: str) -> int:
    if value == "auto":
        return AUTO
    if not re.fullmatch("[0-9]{1,9}", value) or not 1 <= int(value) <= MAX_WORKERS:
        raise wrong_argument(
            "workers",
            "{value} is wrong; allowed are auto and whole numbers from 1 to {most}",
            value=_shown(value),
            most=MAX_WORKERS,
        )
    return int(value)


def _shown(value: str) -> str:
    """The beginning of a value, in quotation marks, for an error."""
    if len(value) > 100:
        value = value[:100] + "…"
    return repr(value)


@dataclass(frozen=True, slots=True)
class Argument:
    """One `-a NAME=VALUE` of a crawl."""

    read: Callable[[Any], object]
    """Reads the value, or raises an ArgumentError."""
    default: str
    """The default as the user would type it, or a description of it, which contains a space."""
    meaning: str

    def help(self) -> str:
        """Its meaning and its default in the user's language, for argparse."""
        text = localized(Message(self.meaning))
        if " " in self.default:
            text += localized(Message(" (default: {value})", {"value": Message(self.default)}))
        elif self.default:
            text += localized(Message(" (default: {value})", {"value": self.default}))
        return text.replace("%", "%%")


ARGUMENTS = {
    "seeds": Argument(
        _seeds,
        "",
        N_(
            "Where the crawl starts: addresses separated by commas, a file with one address a line (lines that "
            "start with # are comments), the address of a sitemap or feed, or demo."
        ),
    ),
    "topic": Argument(
        _topic,
        N_("the text of the seeds"),
        N_("What the crawl is about: words or a sentence in any language, or a file that ends in .toml."),
    ),
    "scope": Argument(
        _member("scope", ScopeKind),
        "site",
        N_(
            "Which links are followed: host (to the seeds' hosts), site (to their registrable domains, such as "
            "example.co.uk) or any."
        ),
    ),
    "allow": Argument(
        _patterns("allow"),
        N_("all addresses"),
        N_("Regular expressions, separated by commas or spaces; only addresses that match one are followed."),
    ),
    "deny": Argument(
        _patterns("deny"), N_("no address"), N_("Regular expressions; addresses that match one are not followed.")
    ),
    "max_pages": Argument(
        _number("max_pages", 1),
        N_("no limit"),
        N_(
            "The crawl ends when exactly this many pages are stored. Images, failed pages and pages that are not "
            "kept do not count."
        ),
    ),
    "max_depth": Argument(
        _number("max_depth", 0),
        N_("no limit"),
        N_(
            "How many links away from the seeds a page may be; 0 fetches only the seeds, or what a sitemap or feed "
            "lists."
        ),
    ),
    "min_relevance": Argument(
        _share("min_relevance"),
        N_("all pages"),
        N_("Keep only pages with at least this relevance, from 0 to 1; links of the other pages are followed, too."),
    ),
    "min_chance": Argument(
        _share("min_chance"),
        N_("0.01 where a topic is given"),
        N_(
            "Links with a smaller chance of leading to the topic wait; a few of each host are tried. 0 requests all "
            "links."
        ),
    ),
    "stop_when": Argument(
        _stop_when,
        N_("no stop rule"),
        N_("harvest<0.05 ends the crawl when fewer than 10 of the last 200 pages were on the topic."),
    ),
    "lang": Argument(_languages, N_("all languages"), N_("Keep only pages in these languages, such as zh,en.")),
    "name": Argument(_name, "topic", N_("The name of the crawl and of its output.")),
    "images": Argument(
        _choice("images", YES_OR_NO),
        "yes",
        N_("yes downloads the images that are content; no downloads none."),
    ),
    "markdown": Argument(
        _member("markdown", ItemMarkdown),
        "no",
        N_("yes adds the text as Markdown to the items, links adds it with the addresses of links."),
    ),
    "documents": Argument(
        _choice("documents", YES_OR_NO),
        "no",
        N_("yes also fetches linked PDF, DOCX, ODT and EPUB files and makes items of their texts."),
    ),
    "quality": Argument(
        _quality,
        "no",
        N_(
            "yes stores all numbers about the text in the field quality; no stores two, and an export computes the "
            "others when it needs them."
        ),
    ),
    "listings": Argument(
        _choice("listings", YES_OR_NO),
        "no",
        N_(
            "yes also keeps pages that only list others, such as the archives of a blog, and pages of an image; their "
            "links are followed in any case."
        ),
    ),
    "extractor": Argument(_extractor, N_("the setting EXTRACTOR"), N_("The method that extracts the main text.")),
    "favour": Argument(
        _favour,
        "balance",
        N_("What the extractor auto prefers in case of doubt: precision keeps less, recall keeps more."),
    ),
    "fresh": Argument(
        _choice("fresh", YES_OR_NO),
        "no",
        N_("yes forgets what was requested and starts from scratch; stored pages stay until they are fetched again."),
    ),
    "retopic": Argument(
        _choice("retopic", YES_OR_NO),
        "no",
        N_("yes gives a crawl another topic: stored pages and queued links are scored again."),
    ),
    "refresh": Argument(
        _member("refresh", Refresh),
        Refresh.DUE,
        N_("Which stored pages a new round requests again: due (those whose time has come) or all."),
    ),
    "fields": Argument(
        _fields,
        N_("no own fields"),
        N_("A TOML file with CSS or XPath selectors for additional item fields, by host."),
    ),
    "purpose": Argument(
        _purpose,
        LABEL,
        N_(
            "What the pages are for: ai-train, ai-input, search, or several, separated by commas. Pages whose "
            "site disallows that are left out, and the files in which sites say so are read. label keeps every page "
            "and only records what is allowed in the item field rights. Add a use, such as label,ai-train, to also "
            "read these files."
        ),
    ),
    "render": Argument(
        _member("render", Render),
        "auto",
        N_(
            "Which pages are rendered in a browser, so that their scripts run: auto renders those that seem to need it "
            "on sites where it brings more text or links, if the extra browser is installed; never or always."
        ),
    ),
    "workers": Argument(
        _workers,
        "auto",
        N_(
            "How many processes of this machine share the crawl. With auto, it begins as one. Others join while all "
            "are busy all the time, up to one for each processor, and end when they have too little to do. Each has a "
            "host for itself while it requests pages there, so several hosts are needed for several workers."
        ),
    ),
}
