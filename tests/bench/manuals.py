"""Writes pages of manuals with their main text, known by the markup of the program that made each page.

`python manuals.py FOLDER`: fetches the Debian packages of the table into FOLDER/packages, unless they are there, and
writes FOLDER/manuals.jsonl and FOLDER/manuals_other.jsonl. The second file holds the generators of `OTHER`, none of
which is in the first, so that a model trained on the first is judged on manuals of a make it never saw.
"""

import argparse
import json
import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import quote

from lxml import etree, html

Row = dict[str, str]

PACKAGES = """
abs-guide aptitude-doc-es aptitude-doc-ja aptitude-doc-ru asciidoctor-doc autoconf-doc awesome-doc bash-doc beets-doc
bind9-doc borgbackup-doc buildbot-doc cargo-doc checkstyle-doc cmake-doc copyq-doc dblatex-doc dbus-1-doc
debian-edu-doc-zh-cn debian-faq-de debian-faq-fr debian-faq-ja debian-faq-ru debian-faq-zh-cn debian-history
debian-policy developers-reference-de developers-reference-fr developers-reference-ja developers-reference-ru
docbook-xsl-doc-html docutils-doc doxygen-doc fai-doc ffmpeg-doc flex-doc fltk1.3-doc fontforge-doc frr-doc
fwbuilder-doc gettext-doc git-doc glance-doc gnutls-doc groovy-doc installation-guide-amd64 junit4-doc kea-doc
kicad-doc-zh kitty-doc knot-resolver-doc krb5-doc libapache-poi-java-doc libapt-pkg-doc libasound2-doc
libbatteries-ocaml-doc libbcel-java-doc libcairo2-doc libclutter-1.0-doc libcommons-io-java-doc
libcommons-lang3-java-doc libeccodes-doc libeigen3-doc libevdev-doc libexiv2-doc libflatpak-doc libgdk-pixbuf2.0-doc
libgeos-doc libghc-aeson-doc libghc-lens-doc libglib2.0-doc libgphoto2-dev-doc libgtk-3-doc libgtk-4-doc
libgtksourceview-5-doc libharfbuzz-doc libjlha-java-doc-ja libjsoup-java-doc libpango1.0-doc libqwt-doc
libreoffice-help-de libreoffice-help-fr libreoffice-help-ja libreoffice-help-ru libreoffice-help-zh-cn librsvg2-doc
libsdl2-doc libsoup-3.0-doc libsoup2.4-doc libwebkit2gtk-4.0-doc lilypond-doc-html lilypond-doc-html-de
lilypond-doc-html-es lilypond-doc-html-fr lilypond-doc-html-it lilypond-doc-html-ja linux-doc-6.1 live-manual-html
mailutils-doc maxima-doc mkdocs-doc mkdocs-literate-nav-doc modemmanager-doc mplayer-doc nlopt-doc nut-doc octave-doc
policykit-1-doc portaudio19-doc python-attr-doc python-black-doc python-celery-doc python-django-doc
python-djangorestframework-doc python-flask-doc python-hypothesis-doc python-pandas-doc python-pil-doc
qtdeclarative5-doc-html r-doc-html rsyslog-doc rt5-doc-html ruby-rmagick-doc rust-doc shorewall-doc snakemake-doc
sphinx-doc supervisor-doc swi-prolog-doc translate-toolkit-doc twisted-doc ubuntu-packaging-guide-html-de
ubuntu-packaging-guide-html-es ubuntu-packaging-guide-html-fr ubuntu-packaging-guide-html-pt-br
ubuntu-packaging-guide-html-ru udisks2-doc varnish-doc weechat-doc weka-doc xorg-docs yard-doc zsh-doc
""".split()
OTHER = {"gi-docgen", "asciidoc", "haddock"}
SEED = 7
PAGES_OF_PACKAGE = 12
PAGES_OF_GENERATOR = 90
PARSED_OF_PACKAGE = 36
TRIED_OF_PACKAGE = 250
LARGEST = 400_000
FEWEST_WORDS = 20
MOST_LINKED = 0.6
LANGUAGES = {"ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "hu", "it", "ja", "ko", "lt", "nb", "nl", "pl"}
LANGUAGES |= {"pt", "ro", "ru", "sv", "tr", "uk", "vi", "zh"}
SKIPPED = re.compile(
    r"(^|/)(_modules|_sources|_static|src-html|class-use|index-files|src|search|404)(/|\.|$)|genindex|modindex"
    r"|(^|/)(all)?(search|frame|toc|contents?|docindex|help-doc|summary)[^/]*$|-frame|_source\.html|-members\.html"
    r"|(package|overview)-(tree|use|frame|summary)|allclasses|(^|[-/_])index(-[^/]*|_[^/]*)?\.html",
    re.IGNORECASE,
)
BLOCKS = set(
    "address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
    " rt-block".split()
)
UNREAD = set("script style noscript template button input select textarea svg iframe object head title".split())


class Rule(NamedTuple):
    """How a generator is known, the regions its main text is in (the first that is found), and what is out."""

    name: str
    mark: re.Pattern[str]
    regions: str
    out: list[str]


TABLE = r"""
gi-docgen section#main gi-docgen
 a.anchor aside .toc .sidenav .srclink .section-anchor nav
gtk-doc body GTK-Doc V
 table.navigation .footer .toc .listing_lines .gallery_image
docbook body content="(DocBook XSL|Modular DocBook)
 .navheader .navfooter .toc .toc-title .list-of-examples .list-of-tables .list-of-figures .lot .NAVHEADER .NAVFOOTER
 .TOC .LOT .nut_header .nut_footer
texinfo div#main|body content="(makeinfo|texi2any|texi2html)
 .header .nav-panel .menu .menu-comment .Contents_element .contents .contents-heading .shortcontents
 .Overview_element .copiable-anchor .copiable-link .summary-letter .nav_table #tocframe .toc_header .toc_uplink
 .footer #footer #languages .node //*[@class='top-level-extent']/p[@class='settitle']
 //table[.//a[@accesskey][@title]] .printindex
javadoc main|.header,.contentContainer Generated by javadoc|javadoc/\w+Writer
 nav .table-tabs .tableTab .activeTableTab .tabEnd .copy .anchor-link .toc
pydoctor div#main content="pydoctor
 #current-docs-container #search-results-container .sourceLink .headerLink .inheritanceSourceLink #searchBox
 //a[contains(@href,'classIndex')]
rustdoc #main-content content="rustdoc"
 .sub-container .out-of-band .srclink .src a.anchor .line-numbers .src-line-numbers .hideme .since #copy-path
 .sidebar #help #toggle-all-docs .tooltip .rightside
mdbook main generated using mdBook
 .buttons nav .fa
mkdocs article|div[role=main] content="mkdocs|MkDocs version|Built with <a href="https?://www\.mkdocs
 a.headerlink .linenos .md-source-file .md-content__button .rst-footer-buttons .toc nav
sphinx [itemprop=articleBody]|article|[role=main]|#yui-main|div.body documentation_options|using <a [^>]*sphinx
 a.headerlink .linenos .lineno .contents .toctree-wrapper .viewcode-link .viewcode-back .related .sphinxsidebar
 .prev-next-area .edit-this-page .content-icon-container nav .system-message .sidebar-toc .footer .nav .breadcrumb
 .rst-footer-buttons #browse-horizontal .localtoc #contents.topic
docutils div.document|main|body content="Docutils
 .contents .header .footer .system-message
doxygen .headertitle,.contents content="Doxygen
 .toc .dynheader .dyncontent .permalink .lineno .ingroups .navpath .qindex .legend .levels
 //a[starts-with(.,'Go')][contains(@href,'_source')] .inherit_header .inherit //a[.='More...']
asciidoc #header,#content,#footnotes content="Asciidoc(tor)?\b
 #toc .toc .anchor .toctitle
haddock #content Produced by <a href=.https?://www\.haskell\.org/haddock
 #synopsis #table-of-contents a.link a.selflink
libreoffice-help #DisplayArea <div id="DisplayArea"
 .howtoget .bookmark
sisu .substance content="SiSU|_sisu/
 .ocn
latex2html body latex2html
 .navigate .navigation .ChildLinks .toc
ldoc #content ldoc\.css
 .contents
yard #content Generated by\s+<a href=.https?://yardoc
 .showSource .source_code .lines .summary_toggle #toc .toggle .source_link .inheritanceTree .fullTree
rdoc main Generated by <a href=.https?://(ruby\.github\.io/rdoc|docs\.seattlerb|rdoc)
 .method-source-code .method-click-advice .method-controls //a[@href='#top'] //h1/span //h2/span //h3/span
pod2html body ^\s*<ul id="index">|rev="made"
 #index //a[starts-with(.,'←')]
ocamldoc body <link rel="Start"[^\0]*class="navbar"
 .navbar
qdoc .mainContent <!-- \S+\.(qdoc|cpp|qml|h) -->\s*<title>
 .toc .sidebar .naviNextPrevious .navigationbar //li/a[contains(@href,'-members.html')] //a[.='More...']
"""


def rules_of(table: str) -> list[Rule]:
    """The rules of a table: a name, the regions (parted by `|`), the mark; then, indented, what is out."""
    rules = []
    for entry in re.split(r"\n(?=\S)", table.strip()):
        first, *out = entry.split("\n")
        name, regions, mark = first.split(maxsplit=2)
        rules.append(Rule(name, re.compile(mark, re.IGNORECASE), regions, " ".join(out).split()))
    return rules


RULES = rules_of(TABLE)


def path_of(short: str) -> str:
    """The XPath of a short name of an element: `tag.class`, `#id`, `[name=value]`; an XPath is left as it is."""
    if short.startswith("/"):
        return short
    path = "//" + re.split(r"[.#\[]", short)[0] if short[0].isalpha() else "//*"
    for sign, name in re.findall(r"([.#])([\w-]+)", short):
        path += f"[@id='{name}']" if sign == "#" else f"[contains(concat(' ',normalize-space(@class),' '),' {name} ')]"
    for name, value in re.findall(r"\[(\w+)=(\w+)\]", short):
        path += f"[@{name}='{value}']"
    return path


def found(page: etree._Element, names: list[str]) -> list[etree._Element]:
    """The elements with one of the names, in the order of the page, none inside another."""
    every = cast("list[etree._Element]", page.xpath("|".join(path_of(name) for name in names)))
    inside = set(every)
    return [element for element in every if not any(above in inside for above in element.iterancestors())]


def written(node: etree._Element, out: set[etree._Element], pre: bool, linked: bool) -> Iterator[tuple[str, bool]]:
    """The text of an element, a line break around each block; and whether it is in a link."""
    if not isinstance(node.tag, str) or node in out or node.tag in UNREAD:
        return
    pre = pre or node.tag == "pre"
    linked = linked or (node.tag == "a" and node.get("href") is not None)
    around = [("\n", linked)] if node.tag in BLOCKS else []
    yield from around
    for text, child in [(node.text, None), *((child.tail, child) for child in node)]:
        if child is not None:
            yield from written(child, out, pre, linked)
        if text:
            yield text if pre else re.sub(r"\s+", " ", text), linked
    yield from around


def gold_of(page: etree._Element, rule: Rule) -> tuple[str, float]:
    """The main text of a page, and the share of it that is in links."""
    out = set(found(page, rule.out))
    for regions in rule.regions.split("|"):
        parts = found(page, regions.split(","))
        if parts:
            break
    pieces = [piece for part in parts for piece in written(part, out, False, False)]
    lines = [" ".join(line.split()) for line in "".join(text for text, _ in pieces).split("\n")]
    lines = [line for line in lines if line.strip("\u00b6 ")]
    if len(lines) > 1 and lines[0] == lines[1]:
        lines = lines[1:]
    counts = Counter[bool]()
    for text, linked in pieces:
        counts[linked] += len("".join(text.split()))
    return "\n".join(lines), counts[True] / max(1, counts.total())


def decoded(raw: bytes) -> str:
    """The text of a page: UTF-8, or else what the page says of itself."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        charset = re.search(rb"charset=[\"']?([\w-]+)", raw[:4000])
        try:
            return raw.decode(charset[1].decode() if charset else "cp1252", errors="replace")
        except LookupError:
            return raw.decode("cp1252", errors="replace")


def language_of(package: str, path: str, page: etree._Element) -> str:
    """The language by the end of the file's name, of the package's name, or by what the page says."""
    file = re.search(r"\.([a-z]{2})(?:[-_]\w+)?\.html?$", path)
    suffix = re.search(r"-(zh-cn|zh-tw|pt-br|[a-z]{2})$", package)
    declared = page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    for code in [file[1] if file else "", suffix[1] if suffix else "", declared]:
        if code[:2].lower() in LANGUAGES:
            return code[:2].lower()
    return "en"


def pages_of(folder: Path, package: str) -> list[Row]:
    """Rows of a package, of mixed sizes, in a random order."""
    chance = random.Random(f"{SEED} {package}")
    files = [Path(top) / name for top, _, names in os.walk(folder / package) for name in names]
    files = sorted(file for file in files if file.suffix in {".html", ".htm", ".xhtml"} and not file.is_symlink())
    files = [file for file in files if not SKIPPED.search(str(file.relative_to(folder / package)))]
    chance.shuffle(files)
    rows: dict[str, Row] = {}
    for file in files[:TRIED_OF_PACKAGE]:
        if len(rows) == PARSED_OF_PACKAGE or not 300 < file.stat().st_size <= LARGEST:
            continue
        text = decoded(file.read_bytes())
        rule = next((candidate for candidate in RULES if candidate.mark.search(text)), None)
        if rule is None:
            continue
        page = html.document_fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", text))
        gold, linked = gold_of(page, rule)
        words = len(gold.split()) + len(re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]", gold)) // 2
        if words < FEWEST_WORDS or linked > MOST_LINKED:
            continue
        path = file.relative_to(folder / package).as_posix()
        rows[gold] = {
            "id": f"{package}/{path}",
            "url": f"http://{package}.example/{quote(path)}",
            "lang": language_of(package, path, page),
            "html": text,
            "gold": gold,
            "page_type": "documentation",
            "generator": rule.name,
        }
    by_size = [rows[gold] for gold in sorted(rows, key=len)]
    step = max(1.0, len(by_size) / PAGES_OF_PACKAGE)
    kept = [by_size[int(number * step)] for number in range(min(len(by_size), PAGES_OF_PACKAGE))]
    chance.shuffle(kept)
    return kept


def fetch(folder: Path, package: str) -> None:
    """Download and unpack a package, unless its folder is there."""
    if not (folder / package).exists():
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
        for archive in folder.glob(f"{package}_*.deb"):
            subprocess.run(["dpkg", "-x", archive, folder / package], check=True)
            archive.unlink()


def main() -> None:
    """Write the two files and say how many pages of each generator and language are in them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    packages = parser.parse_args().folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    of_generator: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for package in PACKAGES:
        fetch(packages, package)
        for number, row in enumerate(pages_of(packages, package)):
            of_generator[row["generator"]].append((number, row))
    files: dict[str, list[Row]] = {"manuals": [], "manuals_other": []}
    for generator, numbered in sorted(of_generator.items()):
        numbered.sort(key=lambda pair: pair[0])
        files["manuals_other" if generator in OTHER else "manuals"] += [row for _, row in numbered][:PAGES_OF_GENERATOR]
    for name, rows in files.items():
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (packages.parent / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        for key in ("generator", "lang"):
            print(f"{name}: {len(rows)} pages", dict(Counter(row[key] for row in rows).most_common()))


if __name__ == "__main__":
    main()
