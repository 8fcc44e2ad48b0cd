"""Other programs that extract main text (peers), each called on the saved page as in its own documentation.

All get the same input: the decoded source of the page, its address, and the language that the gold declares, which
justext, newspaper and goose3 need. If a peer returns HTML, the text is read from it by Winnow's own parser. The
defaults of peers are kept, except that images are not fetched, and that resiliparse extracts main content only.

`html-text` and `inscriptis` extract all text of a page, as a baseline for the other methods.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

from crawler.page.page import Page

JUSTEXT_LISTS = {
    **{"cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish"},
    **{"fr": "French", "hu": "Hungarian", "it": "Italian", "ko": "Korean", "nl": "Dutch", "pl": "Polish"},
    **{"pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian"},
    **{"ar": "Arabic", "bg": "Bulgarian", "hi": "Hindi", "id": "Indonesian", "nb": "Norwegian_Bokmal"},
    **{"no": "Norwegian_Bokmal", "vi": "Vietnamese"},
}
"""The names of justext's lists of stop words, by language. Pages in other languages are read without a list."""
NO_ADDRESS = "http://localhost/"
"""The address for peers that need one, if the page has none."""


class MethodInput(NamedTuple):
    """A page, as methods get it."""

    html: str
    url: str
    lang: str


@dataclass(frozen=True, slots=True)
class Peer:
    """How a peer is installed, imported and called."""

    package: str
    """The name of its package on PyPI."""
    module: str
    text: Callable[[Any, MethodInput], str | None]
    """Extracts the main text of a page with the imported module."""


def _text_of_html(html: str) -> str:
    return "\n".join(block.text for block in Page.from_html(html).blocks)


def _justext(justext: Any, page: MethodInput) -> str:
    name = JUSTEXT_LISTS.get(page.lang)
    if name:
        stoplist = justext.get_stoplist(name)
        options = {}
    else:  # justext's mode without a list
        stoplist = frozenset()
        options = {"stopwords_low": 0, "stopwords_high": 0}
    paragraphs = justext.justext(page.html.encode("utf-8", "replace"), stoplist, encoding="utf-8", **options)
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


def _newspaper(newspaper: Any, page: MethodInput) -> str:
    # Imported by name, because the attribute `newspaper.languages` is a function.
    is_known = page.lang in import_module("newspaper.languages").valid_languages()
    options = {"language": page.lang} if is_known else {}
    article = newspaper.Article(page.url or NO_ADDRESS, fetch_images=False, **options)
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
        text=lambda peer, page: _text_of_html(peer.Document(page.html, url=page.url or None).summary()),
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
        text=lambda peer, page: _text_of_html(
            peer.GeneralExtractor().extract(page.html, base_url=page.url or NO_ADDRESS)["html"]
        ),
    ),
    "html-text": Peer(package="html-text", module="html_text", text=lambda peer, page: peer.extract_text(page.html)),
    "inscriptis": Peer(package="inscriptis", module="inscriptis", text=lambda peer, page: peer.get_text(page.html)),
}


def is_installed(name: str) -> bool:
    """Whether a peer's module can be found; the module is not imported."""
    return find_spec(PEERS[name].module.partition(".")[0]) is not None


def version(name: str) -> str:
    """The version of a peer's package; empty if the module is installed without its metadata."""
    try:
        return metadata.version(PEERS[name].package)
    except metadata.PackageNotFoundError:
        return ""
