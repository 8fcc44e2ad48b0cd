"""Content systems of Debian with the same encyclopaedia articles: WordPress, DokuWiki, MediaWiki, ikiwiki and Fossil.

    apt-get install --no-install-recommends mediawiki wordpress wordpress-theme-twentytwentyone dokuwiki ikiwiki \
        fossil libtimedate-perl php-cli php-sqlite3 php-mysql php-mbstring php-xml php-intl mariadb-server-core \
        mariadb-client-core

Each is copied to a folder of its own, so that nothing of the machine's configuration is read or written. WordPress has
comments on every post, tags, categories, three authors, photographs with pages of their own, and a post behind a
password; ikiwiki has comments and tags; DokuWiki has photographs; MediaWiki has edits and talk pages; Fossil has the
check-ins of files.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, create_connection, socket

from server import Served

from strangers_sites.encyclopaedia import AUTHORS, COMMENT, PHOTO_EVERY, Article, articles
from strangers_sites.forward import forwarding
from strangers_sites.site import PORT, Programs, Site, Workshop
from strangers_sites.sources import IMAGES, Document

PHP = Path(__file__).resolve().parent / "php"
DEBIAN = Programs(name="debian")
"""Nothing is installed: the packages are those of the machine."""
EDITS = 3
"""Of an article of MediaWiki."""
TALK_EVERY = 6
"""Articles of MediaWiki without a talk page between two with one."""
CHECK_INS = 60
"""Of the files in Fossil."""
START_SECONDS = 60.0
PHP_WORKERS = "4"
"""Processes of `php -S`."""
BLOG_TITLE = "Notes on Nature"


def site(
    name: str,
    address: str,
    build: Callable[[Workshop], None],
    serve: Callable[[Workshop], Iterator[Served]],
    documents: Callable[[], Sequence[Document]],
    front: str = "/",
) -> Site:
    """A content system that is served by its own programs."""
    return Site(
        name=name,
        kind="content system",
        address=address,
        programs=DEBIAN,
        build=build,
        documents=lambda _: documents(),
        output="",
        serve=contextmanager(serve),
        front=front,
        comment=COMMENT.split("{", maxsplit=1)[0],
    )


def free_port() -> int:
    with socket(AF_INET, SOCK_STREAM) as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def wait_for(attempt: Callable[[], object]) -> None:
    """Try again until it works or the time is up."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            attempt()
        except (OSError, subprocess.CalledProcessError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


@contextmanager
def running(command: Sequence[str | Path], log: Path, **environment: str) -> Iterator[None]:
    """A program that runs until the end, with those that it starts."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=os.environ | environment, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(process.pid, 15)
            process.wait()


@contextmanager
def serving_backend(
    workshop: Workshop, port: int, command: Sequence[str | Path], **environment: str
) -> Iterator[Served]:
    """A web server of its own behind the address of the site."""
    with running(command, workshop.folder / "server.log", **environment):
        wait_for(lambda: create_connection(("127.0.0.1", port), 1).close())
        with forwarding(workshop.site.address, PORT, port) as served:
            yield served


@contextmanager
def serving_php(workshop: Workshop, folder: str, router: Sequence[Path] = ()) -> Iterator[Served]:
    """A folder of PHP behind the address of the site."""
    port = free_port()
    limits = ("-d", "memory_limit=512M", "-d", "display_errors=0")
    command: tuple[str | Path, ...] = (
        "php",
        *limits,
        "-S",
        f"127.0.0.1:{port}",
        "-t",
        workshop.folder / folder,
        *router,
    )
    with serving_backend(workshop, port, command, PHP_CLI_SERVER_WORKERS=PHP_WORKERS) as served:
        yield served


def copy_package(workshop: Workshop, package: str) -> Path:
    """The files of a package, links replaced by what they lead to, as far as that exists."""
    target = workshop.folder / package
    shutil.copytree(f"/usr/share/{package}", target, ignore_dangling_symlinks=True)
    return target


def write_articles(workshop: Workshop, address_of: Callable[[Article], str]) -> None:
    """Write the articles as the scripts in PHP read them, in HTML."""
    by_title = {article.title: article for article in articles()}
    rows = []
    for article in articles():
        anchors = [f'<li><a href="{address_of(by_title[link])}">{escape(link)}</a></li>' for link in article.links]
        paragraphs = [f"<p>{escape(paragraph)}</p>" for paragraph in article.paragraphs]
        see_also = [f"<h2>See also</h2><ul>{''.join(anchors)}</ul>"] if anchors else []
        rows.append(
            {
                "title": article.title,
                "slug": article.slug,
                "category": article.category,
                "tags": article.tags,
                "author": AUTHORS.index(article.author),
                "date": f"{article.published} 08:53:20",
                "comments": article.comments,
                "photo": article.has_photo,
                "html": "".join([*paragraphs, *see_also]),
            }
        )
    workshop.write_json("articles.json", rows)


# WordPress


@contextmanager
def running_database(workshop: Workshop) -> Iterator[Path]:
    """A MariaDB of the site; yields its socket."""
    data, at = workshop.folder / "mysql", workshop.folder / "mysql.sock"
    options = (f"--datadir={data}", f"--socket={at}", "--skip-networking", "--user=root")
    with running(("mariadbd", "--no-defaults", *options), workshop.folder / "mysql.log"):
        ask = ["mariadb", "--no-defaults", f"--socket={at}", "-uroot", "-e", "CREATE DATABASE IF NOT EXISTS wordpress"]
        wait_for(lambda: subprocess.run(ask, check=True, capture_output=True))
        yield at


def build_wordpress(workshop: Workshop, permalinks: str) -> None:
    root, url = copy_package(workshop, "wordpress"), workshop.site.url
    shutil.rmtree(root / "wp-content/uploads", ignore_errors=True)
    workshop.write_images("wordpress/wp-content/uploads")
    data = workshop.folder / "mysql"
    workshop.run(
        "mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"
    )
    with running_database(workshop) as database:
        constants = {
            **{"DB_NAME": "wordpress", "DB_USER": "root", "DB_PASSWORD": "", "DB_HOST": f"localhost:{database}"},
            **{"DB_CHARSET": "utf8mb4", "DB_COLLATE": "", "WP_HOME": url, "WP_SITEURL": url},
            **{"DISABLE_WP_CRON": True, "WP_HTTP_BLOCK_EXTERNAL": True},
        }
        lines = [f"define({name!r}, {json.dumps(value)});" for name, value in constants.items()]
        lines = ["<?php", *lines, "$table_prefix = 'wp_';", "require ABSPATH . 'wp-settings.php';"]
        workshop.write("wordpress/wp-config.php", "\n".join(lines))
        write_articles(workshop, lambda article: url + wordpress_path(article, permalinks))
        workshop.run(
            "php", PHP / "wordpress.php", root, workshop.folder / "articles.json", url, permalinks, folder=root
        )


def wordpress_path(article: Article, permalinks: str) -> str:
    year, month, _ = article.published.split("-")
    replaced = {"%year%": year, "%monthnum%": month, "%postname%": article.slug}
    for name, value in replaced.items():
        permalinks = permalinks.replace(name, value)
    return permalinks


def serve_wordpress(workshop: Workshop) -> Iterator[Served]:
    with running_database(workshop), serving_php(workshop, "wordpress", [PHP / "router.php"]) as served:
        yield served


def wordpress_documents() -> list[Document]:
    return [article.document(article.slug, article.author, article.published) for article in articles()]


def wordpress(name: str, address: str, permalinks: str) -> Site:
    """A blog of WordPress with its own theme and a form of addresses."""
    build = partial(build_wordpress, permalinks=permalinks)
    return site(name, address, build, serve_wordpress, wordpress_documents)


# DokuWiki


def name_in_dokuwiki(article: Article) -> str:
    return f"{article.category.lower()}:{article.slug.replace('-', '_')}"


def build_dokuwiki(workshop: Workshop) -> None:
    """A namespace for each category, each page in two revisions."""
    root, folder = copy_package(workshop, "dokuwiki"), workshop.folder
    data, configuration = folder / "data", folder / "conf"
    shutil.copytree("/var/lib/dokuwiki/data", data)
    workshop.write_images("data/media/photos")
    shutil.copytree("/etc/dokuwiki", configuration, ignore=shutil.ignore_patterns("local.php", "*.auth.php"))
    settings = {"title": "Nature", "savedir": str(data), "useacl": 0, "updatecheck": 0, "indexdelay": 0}
    settings_lines = [f"$conf[{name!r}] = {value!r};" for name, value in settings.items()]
    workshop.write("conf/local.php", "\n".join(["<?php", *settings_lines]))
    (root / "inc/preload.php").unlink(missing_ok=True)
    workshop.write("dokuwiki/inc/preload.php", f"<?php define('DOKU_CONF', '{configuration}/');")
    by_title = {article.title: article for article in articles()}
    rows: list[dict[str, str]] = []
    lists: dict[str, list[str]] = {}
    for article in articles():
        links = [f"  * [[{name_in_dokuwiki(by_title[link])}|{link}]]" for link in article.links]
        name = f"photo-{1 + article.number // PHOTO_EVERY % IMAGES}.png"
        photo = [f"{{{{photos:{name}?300|A photograph}}}}"] if article.has_photo else []
        see_also = ["===== See also =====", "\n".join(links)] if links else []
        text = "\n\n".join([f"====== {article.title} ======", *photo, *article.paragraphs, *see_also])
        rows.append({"id": name_in_dokuwiki(article), "dokuwiki": text})
        lists.setdefault(article.category, []).append(f"  * [[{name_in_dokuwiki(article)}|{article.title}]]\n")
    for category, lines in lists.items():
        rows.append({"id": f"{category.lower()}:start", "dokuwiki": f"====== {category} ======\n\n{''.join(lines)}"})
    front = "".join(f"  * [[{category.lower()}:start|{category}]]\n" for category in lists)
    rows.append({"id": "start", "dokuwiki": f"====== Nature ======\n\n{front}"})
    workshop.write_json("articles.json", rows)
    workshop.run("php", PHP / "dokuwiki.php", root, folder / "articles.json", folder=root)


def serve_dokuwiki(workshop: Workshop) -> Iterator[Served]:
    with serving_php(workshop, "dokuwiki") as served:
        yield served


def dokuwiki_documents() -> list[Document]:
    return [article.document(f"doku.php?id={name_in_dokuwiki(article)}") for article in articles()]


# MediaWiki


def build_mediawiki(workshop: Workshop) -> None:
    """A wiki on SQLite, each article in three edits, with category pages and some talk pages."""
    root, folder = copy_package(workshop, "mediawiki"), workshop.folder
    (root / "LocalSettings.php").unlink(missing_ok=True)
    shutil.rmtree(root / "images", ignore_errors=True)
    (root / "images").mkdir()
    paths = ("--dbtype=sqlite", f"--dbpath={folder}", f"--server={workshop.site.url}", "--scriptpath=")
    others = ("--pass=a-password-of-the-bench", "--skins=Vector", "--with-extensions=", "Nature", "Editor")
    workshop.run("php", root / "maintenance/install.php", *paths, *others, folder=root)
    with (root / "LocalSettings.php").open("a", encoding="utf-8") as settings:
        settings.write("\n$wgJobRunRate = 0;\n$wgMainCacheType = CACHE_DB;\n")
    workshop.write("dump.xml", mediawiki_dump())
    workshop.run("php", root / "maintenance/importDump.php", folder / "dump.xml", folder=root)
    front = [f"* [[:Category:{name}]]" for name in sorted({article.category for article in articles()})]
    front += [f"* [[{article.title}]]" for article in articles()[::20]]
    workshop.write("front.txt", "Nature, railways and music.\n\n" + "\n".join(front))
    with (folder / "front.txt").open("rb") as text:
        command = ["php", str(root / "maintenance/edit.php"), "Main_Page"]
        subprocess.run(command, cwd=root, stdin=text, check=True, capture_output=True)
    for script in ("rebuildrecentchanges.php", "initSiteStats.php", "runJobs.php"):
        arguments = ["--update"] if script == "initSiteStats.php" else []
        workshop.run("php", root / "maintenance" / script, *arguments, folder=root)


def mediawiki_dump() -> str:
    """The pages of MediaWiki as its own export format."""
    edits_by_title: dict[str, list[str]] = {}
    for article in articles():
        links = "\n".join(f"* [[{link}]]" for link in article.links)
        red_link = f"[[{article.title} in art]]" if article.number % 4 == 0 else ""
        see_also = ["== See also ==", links] if links else []
        end = f"[[Category:{article.category}]]"
        whole = "\n\n".join([*article.paragraphs, red_link, *see_also, end])
        drafts = [whole.replace(article.paragraphs[0], f"Draft {number}.", 1) for number in range(EDITS - 1)]
        edits_by_title[article.title] = [*drafts, whole]
        if has_talk_page(article):
            edits_by_title[f"Talk:{article.title}"] = [f"== Sources ==\n\n{talk_text(article)} [[User:Ann]]"]
        edits_by_title[f"Category:{article.category}"] = [f"Articles about {article.category.lower()}."]
    pages = [
        f"<page><title>{escape(title)}</title>{''.join(map(mediawiki_revision, range(len(edits)), edits))}</page>"
        for title, edits in edits_by_title.items()
    ]
    form = 'xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11"'
    return f"<mediawiki {form}>{''.join(pages)}</mediawiki>"


def mediawiki_revision(number: int, text: str) -> str:
    contributor = f"<contributor><username>{('Ann', 'Bert', 'Cleo')[number]}</username></contributor>"
    return (
        f"<revision><timestamp>2025-0{number + 1}-01T10:00:00Z</timestamp>{contributor}<comment>edit</comment>"
        f"<model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision>'
    )


def has_talk_page(article: Article) -> bool:
    return article.number % TALK_EVERY == 0


def talk_text(article: Article) -> str:
    return f"{article.paragraphs[-1]} Which source says so?"


def serve_mediawiki(workshop: Workshop) -> Iterator[Served]:
    with serving_php(workshop, "mediawiki") as served:
        yield served


def mediawiki_documents() -> list[Document]:
    """Articles and talk pages."""
    documents = []
    for article in articles():
        name = f"{article.title[0].upper()}{article.title[1:]}".replace(" ", "_")
        documents.append(article.document(f"index.php/{name}"))
        if has_talk_page(article):
            text = talk_text(article)
            title = f"Talk:{article.title}"
            talk = Document(slug=f"index.php/Talk:{name}", title=title, markdown=text, language="en", text=text)
            documents.append(talk)
    return documents


# ikiwiki


def build_ikiwiki(workshop: Workshop) -> None:
    """A blog with comments, tags and a page for each article, built once."""
    by_title = {article.title: article for article in articles()}
    for article in articles():
        links = "\n".join(f"* [[{link}|posts/{by_title[link].slug}]]" for link in article.links)
        see_also = [f"## See also\n\n{links}"] if links else []
        fields = [
            f'[[!meta title="{article.title}"]]',
            f'[[!meta author="{article.author}"]]',
            f'[[!meta date="{article.published} 08:53:20"]]',
            f"[[!tag {' '.join([*article.tags, article.category.lower()])}]]",
        ]
        text = "\n\n".join(["\n".join(fields), *article.paragraphs, *see_also])
        workshop.write(f"source/posts/{article.slug}.mdwn", text)
        for number, comment in enumerate(article.comments):
            lines = [
                "[[!comment format=mdwn",
                f' username="{("Dora", "Emil", "Fay", "Gus")[number % 4]}"',
                f' date="{article.published}T{number:02}:30:00Z"',
                f' subject="Remark {number}"',
                f' content="""{comment}"""]]',
            ]
            workshop.write(f"source/posts/{article.slug}/comment_{number + 1}._comment", "\n".join(lines))
    posts = 'pages="page(posts/*) and !*/Discussion"'
    workshop.write("source/index.mdwn", f'[[!inline {posts} show="10"]]\n\n[[Older posts|archive]]\n')
    workshop.write("source/archive.mdwn", f'[[!inline {posts} archive="yes" show="0"]]\n')
    settings = [
        f"wikiname: {BLOG_TITLE}",
        f"url: {workshop.site.url}",
        f"srcdir: {workshop.folder / 'source'}",
        f"destdir: {workshop.folder / 'site'}",
        "add_plugins: [goodstuff, comments, sidebar, blogspam]",
        "disable_plugins: [blogspam]",
        "comments_pagespec: page(posts/*) and !*/Discussion",
        "tagbase: tags",
        "tag_autocreate: 1",
        "tag_autocreate_commit: 0",
        "rss: 1",
        "usedirs: 1",
        "discussion: 0",
        "rcs: ''",
    ]
    workshop.write("ikiwiki.yaml", "\n".join(["# IkiWiki::Setup::Yaml - YAML formatted setup file", *settings]) + "\n")
    workshop.run("ikiwiki", "--setup", workshop.folder / "ikiwiki.yaml", "--rebuild", LANG="C.UTF-8", LC_ALL="C.UTF-8")


def ikiwiki_documents() -> list[Document]:
    """Its pages name no day but that of their last change."""
    return [article.document(article.slug, article.author) for article in articles()]


IKIWIKI = Site(
    name="ikiwiki",
    kind="content system",
    address="127.0.44.5",
    programs=DEBIAN,
    build=build_ikiwiki,
    documents=lambda _: ikiwiki_documents(),
    output="site",
    comment=COMMENT.split("{", maxsplit=1)[0],
)


# Fossil


def build_fossil(workshop: Workshop) -> None:
    """A repository with the articles as wiki pages, and with files that change."""
    repository, checkout, home = workshop.folder / "nature.fossil", workshop.folder / "checkout", workshop.folder
    fossil = partial(workshop.run, "fossil", HOME=str(home), USER="ann")
    fossil("init", repository)
    fossil("user", "capabilities", "nobody", "ghjorz", "-R", repository)
    fossil("settings", "auto-hyperlink", "0", "-R", repository)
    for article in articles():
        links = "\n".join(f"  * [{link}](/wiki?name={link.replace(' ', '+')})" for link in article.links)
        see_also = [f"## See also\n\n{links}"] if links else []
        workshop.write("page.md", "\n\n".join([*article.paragraphs, *see_also]))
        fossil("wiki", "create", article.title, home / "page.md", "-M", "markdown", "-R", repository)
    checkout.mkdir()
    fossil("open", repository, "--force", folder=checkout)
    for number in range(CHECK_INS):
        article = articles()[number % 20]
        workshop.write(f"checkout/{article.slug}.txt", "\n".join(article.paragraphs[: 1 + number // 20]))
        fossil("addremove", folder=checkout)
        options = ("--no-warnings", "--no-prompt", "--allow-older", "--user-override", ("ann", "bert")[number % 2])
        fossil("commit", "-m", f"Say more about {article.title}", *options, folder=checkout)
    front = "\n".join(f"  * [{article.title}](/wiki?name={article.title.replace(' ', '+')})" for article in articles())
    workshop.write("page.md", f"# Nature\n\n{front}\n")
    fossil("wiki", "create", "Nature", home / "page.md", "-M", "markdown", "-R", repository)


def serve_fossil(workshop: Workshop) -> Iterator[Served]:
    port = free_port()
    options = ("--localhost", "--port", str(port), "--baseurl", workshop.site.url)
    command = ("fossil", "server", *options, workshop.folder / "nature.fossil")
    with serving_backend(workshop, port, command, HOME=str(workshop.folder)) as served:
        yield served


def fossil_documents() -> list[Document]:
    return [article.document(f"wiki?name={article.title}") for article in articles()]


SYSTEMS = (
    wordpress("wordpress-name", "127.0.44.1", "/%postname%/"),
    wordpress("wordpress-month", "127.0.44.2", "/%year%/%monthnum%/%postname%/"),
    site("dokuwiki", "127.0.44.3", build_dokuwiki, serve_dokuwiki, dokuwiki_documents, front="/doku.php"),
    site(
        "mediawiki",
        "127.0.44.4",
        build_mediawiki,
        serve_mediawiki,
        mediawiki_documents,
        front="/index.php/Main_Page",
    ),
    IKIWIKI,
    site("fossil", "127.0.44.6", build_fossil, serve_fossil, fossil_documents, front="/wiki?name=Nature"),
)
