"""Other programs that take out main text, each called on the saved page as its own documentation calls it.

All get the same: the page's decoded source, its address and the language the gold names for it, which those use that
must be told one (justext, newspaper, goose3). Where a peer gives HTML back, its text is the lines that Winnow's own
walk reads in it. What differs from a peer's defaults: no images are asked for, and resiliparse is told to take main
text.
`html-text` and `inscriptis` take everything a page shows, which is what any method has to beat.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

from crawler.page.page import Page

# Languages by the names of justext's word lists; for others it has a mode without one.
JUSTEXT = {
    **{"cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish"},
    **{"fr": "French", "hu": "Hungarian", "it": "Italian", "ko": "Korean", "nl": "Dutch", "pl": "Polish"},
    **{"pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian"},
    **{"ar": "Arabic", "bg": "Bulgarian", "hi": "Hindi", "id": "Indonesian", "nb": "Norwegian_Bokmal"},
    **{"no": "Norwegian_Bokmal", "vi": "Vietnamese"},
}
NOWHERE = "http://localhost/"  # for peers that need an address


class MethodInput(NamedTuple):
    html: str
    url: str
    lang: str


@dataclass(frozen=True, slots=True)
class Peer:
    """How a peer is installed, imported and called."""

    package: str
    module: str
    text: Callable[[Any, MethodInput], str | None]


def _lines(html: str) -> str:
    return "\n".join(block.text for block in Page.from_html(html).blocks)


def _justext(justext: Any, page: MethodInput) -> str:
    name = JUSTEXT.get(page.lang)
    listed = {} if name else {"stopwords_low": 0, "stopwords_high": 0}
    stoplist = justext.get_stoplist(name) if name else frozenset()
    paragraphs = justext.justext(page.html.encode("utf-8", "replace"), stoplist, encoding="utf-8", **listed)
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


def _newspaper(newspaper: Any, page: MethodInput) -> str:
    # By its full name: `newspaper.languages` is a function of the same name.
    is_known = page.lang in import_module("newspaper.languages").valid_languages()
    options = {"language": page.lang} if is_known else {}
    article = newspaper.Article(page.url or NOWHERE, fetch_images=False, **options)
    article.download(input_html=page.html)
    article.parse()
    return str(article.text)


def _goose(goose: Any, page: MethodInput) -> str:
    options: dict[str, Any] = {"enable_image_fetching": False}
    if page.lang == "zh":
        options["stopwords_class"] = import_module("goose3.text").StopWordsChinese
    elif page.lang:
        options |= {"use_meta_language": False, "target_language": page.lang}
    return str(goose.Goose(options).extract(raw_html=page.html).cleaned_text)


PEERS = {
    "trafilatura": Peer(
        package="trafilatura",
        module="trafilatura",
        text=lambda peer, page: peer.extract(page.html, url=page.url or None),
    ),
    "trafilatura-fast": Peer(
        package="trafilatura",
        module="trafilatura",
        text=lambda peer, page: peer.extract(page.html, url=page.url or None, fast=True),
    ),
    "readability": Peer(
        package="readability-lxml",
        module="readability",
        text=lambda peer, page: _lines(peer.Document(page.html, url=page.url or None).summary()),
    ),
    "resiliparse": Peer(
        package="resiliparse",
        module="resiliparse.extract.html2text",
        text=lambda peer, page: peer.extract_plain_text(page.html, main_content=True),
    ),
    "justext": Peer(package="justext", module="justext", text=_justext),
    "newspaper": Peer(package="newspaper4k", module="newspaper", text=_newspaper),
    "goose3": Peer(package="goose3", module="goose3", text=_goose),
    "boilerpy3": Peer(
        package="boilerpy3",
        module="boilerpy3.extractors",
        text=lambda peer, page: peer.ArticleExtractor().get_content(page.html),
    ),
    "magic-html": Peer(
        package="magic-html",
        module="magic_html",
        text=lambda peer, page: _lines(
            peer.GeneralExtractor().extract(page.html, base_url=page.url or NOWHERE)["html"]
        ),
    ),
    "html-text": Peer(package="html-text", module="html_text", text=lambda peer, page: peer.extract_text(page.html)),
    "inscriptis": Peer(package="inscriptis", module="inscriptis", text=lambda peer, page: peer.get_text(page.html)),
}


def is_installed(name: str) -> bool:
    """Whether a peer's module can be found, without importing it."""
    return find_spec(PEERS[name].module.partition(".")[0]) is not None


def version(name: str) -> str:
    """The version of a peer's package, empty where none is known."""
    try:
        return metadata.version(PEERS[name].package)
    except metadata.PackageNotFoundError:
        return ""
