"""The form of a job: what may stand in it, and what is wrong with what does.

Who uses the dashboard need not be who runs it. So a job from here names no file and no code: seeds are addresses or
the demo, a topic is words, and of all settings there are those of OWN alone, which loosen nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import available_timezones

from scrapy.settings import BaseSettings

from crawler.arguments import BETWEEN_SEEDS, DEMO_ALONE, MARKDOWN, READERS, REFRESH, TEXT_FILE, ArgumentError
from crawler.dashboard.parameters import Parameter
from crawler.schedule.cron import CronError, read
from crawler.spiders.topic import TopicSpider
from crawler.state.database import StateError
from crawler.subcommands.schedule_jobs import Wish, description
from crawler.urls.scope import SCOPES
from crawler.wording import Message

LONG = 20_000
"""Letters of many seeds."""
FIELDS = (
    Parameter("name", "", "name of the job, and of its crawl"),
    Parameter("cron", "", "when it comes, as cron has it"),
    Parameter("timezone", "UTC", "whose clocks that goes by"),
    Parameter("seeds", "", "addresses that it begins with, or demo", most=LONG),
    Parameter("topic", "", "words that say what it is about"),
    Parameter("scope", "site", "which links it follows", tuple(SCOPES)),
    Parameter("max_pages", "", "pages after which a run ends"),
    Parameter("max_depth", "", "links that it goes away from its seeds"),
    Parameter("min_relevance", "", "relevance from which pages are kept"),
    Parameter("stop_when", "", "harvest under which it ends"),
    Parameter("lang", "", "languages that are kept"),
    Parameter("images", "yes", "whether pictures are downloaded", ("yes", "no")),
    Parameter("markdown", "no", "whether pages are kept as Markdown, too", tuple(MARKDOWN)),
    Parameter("refresh", "due", "which pages are asked for again", tuple(REFRESH)),
    Parameter("CONTACT", "", "address for owners of sites"),
    Parameter("KEEP_RESPONSES", "False", "whether responses are kept as they came", ("False", "True")),
)
OWN = ("CONTACT", "KEEP_RESPONSES")
ARGUMENTS = tuple(one.name for one in FIELDS if one.name in READERS and one.name != "name")
USUAL = {one.name: str(one.default) for one in FIELDS}
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
Described = Callable[[float], dict[str, Any]]


@dataclass(frozen=True)
class Filled:
    """A form as somebody filled it in."""

    values: Mapping[str, str]
    errors: Mapping[str, Message]
    """What is wrong, by the field; what is wrong with none of them alone under an empty name."""
    described: Described | None = None
    """What the database is to have, where nothing is wrong."""


def filled(given: Mapping[str, str], settings: BaseSettings) -> Filled:
    """The form with what is wrong in it, or with the job it describes."""
    values = {name: str(given.get(name, usual)).strip() for name, usual in USUAL.items()}
    if values["seeds"] != "demo":
        values["seeds"] = " ".join(values["seeds"].split())
    errors = {name: why for name, value in values.items() if (why := _wrong(name, value, values))}
    if errors:
        return Filled(values, errors)
    arguments = {name: values[name] for name in ARGUMENTS if values[name] and values[name] != USUAL[name]}
    own = {name: values[name] for name in OWN if values[name] and values[name] != USUAL[name]}
    wish = Wish(values["name"], values["cron"], values["timezone"], TopicSpider.name, arguments, own)
    try:
        return Filled(values, {}, description(wish, settings))
    except (CronError, ArgumentError, StateError) as error:
        return Filled(values, {"": error.message})


def _wrong(name: str, value: str, values: Mapping[str, str]) -> Message | None:
    """What is wrong with one field, if anything is."""
    try:
        if name == "cron" and not value:
            return Message("a job wants a time, such as 0 3 * * * or @daily")
        if name == "cron":
            read(value, "UTC")
        elif name == "timezone":
            read("@daily", value)
        elif name == "seeds":
            _check_seeds(value)
        elif name == "topic" and _is_like_a_file(value):
            return Message(
                "{topic} is like a file's name; from here it is words, and for a file "
                "give it on the command line, scrapy schedule add",
                {"topic": repr(value[:100])},
            )
        elif name in READERS and value:
            READERS[name](value)
        elif name == "name":
            return Message("a job wants a name")
        elif not value.isprintable():
            return Message("it has letters that cannot be shown")
    except (ArgumentError, CronError) as error:
        # It stands under the field's own name.
        return error.message._replace(sentence=error.message.sentence.removeprefix(f"{name}="))
    return None


def _check_seeds(value: str) -> None:
    if not value:
        raise ArgumentError("a crawl wants seeds: addresses with http:// or https://, or demo")
    if value == "demo":
        return
    for one in BETWEEN_SEEDS.split(value.strip(" ,")):
        if one == "demo":
            raise ArgumentError(DEMO_ALONE)
        if not ADDRESS.match(one):
            raise ArgumentError(
                "seed {seed} is no address with http:// or https://, nor demo; for a file "
                "give it on the command line, scrapy schedule add",
                seed=repr(one[:100]),
            )
        READERS["seeds"](one)


def _is_like_a_file(topic: str) -> bool:
    """Whether a topic would be looked for among the files."""
    suffix = PurePosixPath(topic.replace("\\", "/")).suffix.lower()
    is_in_a_folder = suffix and re.search(r"[/\\]", topic)
    return bool(topic.lower().endswith(".toml") or TEXT_FILE.fullmatch(topic) or is_in_a_folder)


@cache
def zones() -> list[str]:
    """The time zones that there are, for a list to choose from."""
    return sorted(available_timezones())
