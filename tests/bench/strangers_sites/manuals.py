"""Manuals by Sphinx, MkDocs, VitePress and Docusaurus, and the ready ones in Debian's packages."""

import json
import re
from collections.abc import Mapping, Sequence
from shutil import copytree

from lxml import html
from manuals import RULES, gold_of

from strangers_sites.applications import fastify_documents, fastify_manual
from strangers_sites.site import Programs, Site, Workshop, yaml_lines
from strangers_sites.sources import Document, manual_pages

TITLE = "The Workshop Manual"
LANGUAGES_BY_CODE = {"en": "en", "zh": "zh_CN"}
SPHINX = Programs(
    name="sphinx",
    pypi=("sphinx", "myst-parser", "furo", "sphinx-rtd-theme", "pydata-sphinx-theme", "sphinx-book-theme"),
)
SPHINX_THEMES = {
    "alabaster": "en",
    "furo": "zh",
    "sphinx_rtd_theme": "en",
    "pydata_sphinx_theme": "zh",
    "sphinx_book_theme": "en",
}
"""The themes, each with the language of its manual."""
MKDOCS = Programs(
    name="mkdocs",
    pypi=("mkdocs<2", "mkdocs-material", "mkdocs-ivory", "mkdocs-windmill", "mkdocs-cinder", "mkdocs-terminal"),
    npm=("fastify",),
)
MKDOCS_THEMES = {
    "readthedocs": "en",
    "mkdocs": "zh",
    "material": "fastify",
    "windmill": "en",
    "cinder": "en",
    "terminal": "en",
    "ivory": "zh",
}
"""The themes, each with the language of its manual, or `fastify` for the manual of that name."""
VITEPRESS = Programs(name="vitepress", npm=("vitepress",))
DOCUSAURUS = Programs(name="docusaurus", npm=("@docusaurus/core", "@docusaurus/preset-classic", "react", "react-dom"))


def pages_in(language: str, workshop: Workshop) -> Sequence[Document]:
    """The pages of a manual in this language, or those of Fastify's."""
    if language == "fastify":
        return fastify_documents(workshop)
    return manual_pages(languages=(language,), seed=workshop.seed)


def write_pages(workshop: Workshop, folder: str) -> None:
    """Write the pages as Markdown files."""
    workshop.write_images(f"{folder}/images")
    for page in workshop.documents:
        workshop.write(f"{folder}/{page.slug}.md", page.with_title + "\n")


def sphinx(theme: str, address: str) -> Site:
    """A manual by Sphinx whose pages are in Markdown."""
    language = SPHINX_THEMES[theme]

    def build(workshop: Workshop) -> None:
        settings = {
            "project": TITLE,
            "author": "Mira Tanaka",
            "extensions": ["myst_parser"],
            "myst_enable_extensions": ["dollarmath"],
            "html_theme": theme,
            "language": LANGUAGES_BY_CODE[language],
            "html_baseurl": f"{workshop.site.url}/",
        }
        workshop.write("source/conf.py", "".join(f"{name} = {value!r}\n" for name, value in settings.items()))
        write_pages(workshop, "source")
        lines = [
            "# " + TITLE,
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *(page.slug for page in workshop.documents),
            "```",
        ]
        workshop.write("source/index.md", "\n".join(lines) + "\n")
        # Images from the root of the site are none of Sphinx's files.
        copytree(workshop.folder / "source/images", workshop.folder / "html/images")
        workshop.run("sphinx-build", "-b", "html", "source", "html")

    return Site(
        name=f"sphinx-{theme}",
        kind="manual",
        address=address,
        programs=SPHINX,
        build=build,
        documents=lambda workshop: pages_in(language, workshop),
        output="html",
    )


def mkdocs(theme: str, address: str) -> Site:
    """A manual by MkDocs."""
    language = MKDOCS_THEMES[theme]

    def build(workshop: Workshop) -> None:
        configuration = {
            "site_name": TITLE,
            "site_url": f"{workshop.site.url}/",
            "theme": {"name": theme},
            "markdown_extensions": ["pymdownx.superfences", "pymdownx.highlight", "tables"],
        }
        workshop.write("mkdocs.yml", yaml_lines(configuration))
        if language == "fastify":
            copytree(fastify_manual(workshop), workshop.folder / "docs")
        else:
            write_pages(workshop, "docs")
            links = [f"- [{page.title}]({page.slug}.md)" for page in workshop.documents]
            workshop.write("docs/index.md", "\n".join([f"# {TITLE}", "", *links]) + "\n")
        workshop.run("mkdocs", "build")

    return Site(
        name=f"mkdocs-{theme}",
        kind="manual",
        address=address,
        programs=MKDOCS,
        build=build,
        documents=lambda workshop: pages_in(language, workshop),
        output="site",
    )


def vitepress(language: str, address: str) -> Site:
    """A manual by VitePress, whose links have no endings."""

    def build(workshop: Workshop) -> None:
        items = [{"text": page.title, "link": f"/{page.slug}"} for page in workshop.documents]
        configuration = {"title": TITLE, "lang": language, "cleanUrls": False, "themeConfig": {"sidebar": items}}
        workshop.write(".vitepress/config.mjs", f"export default {json.dumps(configuration)};\n")
        workshop.write_json("package.json", {"type": "module"})
        workshop.link_node_modules()
        write_pages(workshop, ".")
        copytree(workshop.folder / "images", workshop.folder / "public/images")
        workshop.write("index.md", f"# {TITLE}\n\nBegin with [the first chapter](/{workshop.documents[0].slug}).\n")
        workshop.run("vitepress", "build")

    return Site(
        name=f"vitepress-{language}",
        kind="manual",
        address=address,
        programs=VITEPRESS,
        build=build,
        documents=lambda workshop: pages_in(language, workshop),
        output=".vitepress/dist",
    )


DOCUSAURUS_CONFIGURATION: Mapping[str, object] = {
    "title": TITLE,
    "baseUrl": "/",
    "onBrokenLinks": "ignore",
    "markdown": {"format": "md"},
    "presets": [["classic", {"docs": {"routeBasePath": "/"}, "blog": False}]],
}


def build_docusaurus(workshop: Workshop) -> None:
    """A manual by Docusaurus."""
    workshop.write_json("configuration.json", {**DOCUSAURUS_CONFIGURATION, "url": workshop.site.url})
    workshop.write("docusaurus.config.js", 'module.exports = require("./configuration.json");\n')
    workshop.write_json("package.json", {"name": "manual", "private": True})
    workshop.link_node_modules()
    write_pages(workshop, "docs")
    copytree(workshop.folder / "docs/images", workshop.folder / "static/images")
    workshop.write("docs/index.md", f"---\nslug: /\n---\n\n# {TITLE}\n\nAll chapters are at the left.\n")
    workshop.run("docusaurus", "build", DISABLE_UPDATE_NOTIFIER="1", DOCUSAURUS_TELEMETRY="0")


OUTSIDE_MANUALS = re.compile(
    r"^(index|print|toc|404|search|graph_legend|annotated|classes|files|modules|pages|hierarchy)\.html$"
    r"|^(functions|globals)(_.*)?\.html$|_source\.html$|-members\.html$"
)
"""The front page, indexes, pages that hold others, and listings of source files."""
TITLE_TEXTS = "(//main//h1)[1]//text() | //*[@class='headertitle']/*[@class='title']/text()"
"""The title by mdBook, and by Doxygen without the groups below it."""
REFRESH = 'http-equiv="refresh"'


def documents_of_package(workshop: Workshop) -> Sequence[Document]:
    """The pages of a ready manual, with the text of the element that its generator names as the main one."""
    documents = []
    language = "en"
    for file in sorted(workshop.output.rglob("*.html")):
        path = file.relative_to(workshop.output).as_posix()
        source = file.read_text(encoding="utf-8")
        rule = next((rule for rule in RULES if rule.mark.search(source)), None)
        if OUTSIDE_MANUALS.search(path) or rule is None or REFRESH in source:
            continue
        page = html.document_fromstring(source.encode())
        text, _ = gold_of(page, rule)
        title = " ".join("".join(page.xpath(TITLE_TEXTS)).split())
        if text and title:
            slug = path.removesuffix(".html").removesuffix("/index")
            documents.append(Document(slug=slug, title=title, markdown="", text=text, language=language))
    return documents


def ready(name: str, package: str, output: str, address: str) -> Site:
    """The manual in one of Debian's packages."""
    return Site(
        name=name,
        kind="manual",
        address=address,
        programs=Programs(name=package, debian=(package,)),
        build=lambda _: None,
        documents=documents_of_package,
        output=output,
        is_ready=True,
    )


MANUALS = (
    *(sphinx(theme, f"127.0.42.{number}") for number, theme in enumerate(SPHINX_THEMES, 1)),
    *(mkdocs(theme, f"127.0.42.{number}") for number, theme in enumerate(MKDOCS_THEMES, 11)),
    vitepress("en", "127.0.42.21"),
    vitepress("zh", "127.0.42.22"),
    Site(
        name="docusaurus",
        kind="manual",
        address="127.0.42.31",
        programs=DOCUSAURUS,
        build=build_docusaurus,
        documents=lambda workshop: pages_in("en", workshop),
        output="build",
    ),
    ready("mdbook", "rust-doc", "usr/share/doc/rust-doc/html/edition-guide", "127.0.42.41"),
    ready("doxygen", "lmdb-doc", "usr/share/doc/lmdb-doc/html", "127.0.42.42"),
)
