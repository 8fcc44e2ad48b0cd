"""The demo's pages as HTML: a news site of today, and one of the 2000s with tables, spacers and unclosed tags."""

import json
import zlib
from collections.abc import Iterable
from html import escape

from crawler.demo.article import Article, Notice, chosen, frame, inline, picture_path, related, teaser, words

BANNERS = 4
MOST_READ = 5
ON_HOME = 8


def block_html(block: str) -> str:
    """A paragraph, pull quote or list as HTML."""
    if block.startswith("> "):
        return f'<blockquote class="pull-quote">{inline(block[2:])}</blockquote>'
    if block.startswith("- "):
        items = "\n".join(f"<li>{inline(line[2:])}</li>" for line in block.splitlines())
        return f"<ul>\n{items}\n</ul>"
    return f"<p>{inline(block)}</p>"


def figure(article: Article) -> str:
    """The article's picture with its caption, written the way the article asks for."""
    large, small = picture_path(article), picture_path(article, "-small")
    size = f'width="640" height="428" alt="{escape(article.caption)}"'
    picture = {
        "plain": f'<img src="{large}" {size}>',
        "lazy": f'<img class="lazy" src="/images/placeholder.gif" data-src="{large}" {size}>',
        "srcset": f'<picture><source media="(max-width: 600px)" srcset="{small} 320w">'
        f'<img src="{large}" srcset="{small} 320w, {large} 640w" sizes="640px" {size}></picture>',
    }[article.show]
    return f"<figure>{picture}<figcaption>{escape(article.caption)}</figcaption></figure>"


def remarks_html(article: Article) -> str:
    """What readers say under an article, nothing where nobody says anything."""
    if not article.remarks:
        return ""
    says = words(article.language)
    reply = f'<a class="comment-reply" href="#reply">{says["reply_word"]}</a>'
    said = "\n".join(
        f'<div class="comment-item"><span class="user-name">{escape(name)}</span>\n'
        f'<div class="comment-text">{escape(remark)}</div>\n{reply}</div>'
        for name, remark in article.remarks
    )
    return f'<div id="comments" class="comments-area"><h3>{says["remarks_word"]}</h3>\n{said}\n</div>'


def marks(article: Article) -> str:
    """The machine-readable data in an article's head."""
    meta = {
        "og:type": "article",
        "og:title": article.title,
        "og:image": picture_path(article),
        "article:published_time": f"{article.date}T08:00:00Z",
        "article:author": article.author,
    }
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.title,
        "datePublished": f"{article.date}",
        "author": {"@type": "Person", "name": article.author},
    }
    # A closing tag inside a title must not end the script.
    script = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    lines = [f'<meta property="{key}" content="{escape(value)}">' for key, value in meta.items()]
    lines = lines if "og" in article.marks else []
    if "json-ld" in article.marks:
        lines.append(f'<script type="application/ld+json">{script}</script>')
    return "\n".join(lines)


def items(shown: Iterable[Article]) -> str:
    """List items that link to articles."""
    return "\n".join(f'<li><a href="{a.path}">{escape(a.title)}</a></li>' for a in shown)


def story(article: Article) -> str:
    """One entry of a section page: picture, title, date and first sentence."""
    small = picture_path(article, "-small")
    return (
        f'<div class="story"><a href="{article.path}"><img src="{small}" width="320" height="214" alt=""></a>\n'
        f'<h3><a href="{article.path}">{escape(article.title)}</a></h3>\n'
        f'<p><time datetime="{article.date}">{article.date}</time> {teaser(article)}</p></div>'
    )


def modern_page(path: str, title: str, language: str, main: str, head: str = "") -> str:
    """A page of the news site around its main part."""
    return frame("modern.html").substitute(
        words(language),
        path=path,
        title=escape(title),
        language="zh-CN" if language == "zh" else language,
        head=head,
        main=main,
        advert=zlib.crc32(path.encode()) % BANNERS + 1,
        most_read=items(chosen(language, "modern")[-MOST_READ:]),
    )


def modern_article_page(article: Article) -> str:
    """An article as the news site shows it, its picture after the first paragraph."""
    says = words(article.language)
    first, *rest = map(block_html, article.blocks)
    main = frame("modern_article.html").substitute(
        says,
        title=escape(article.title),
        author=escape(article.author),
        date=article.date,
        section=says[article.topic],
        section_word=says[f"{article.topic}_word"],
        body="\n".join((first, figure(article), *rest)),
        remarks=remarks_html(article),
        related=items(related(article)),
    )
    return modern_page(article.path, article.title, article.language, main, marks(article))


def modern_list_page(language: str, topic: str = "") -> str:
    """A section page of the news site or, without a topic, its front page."""
    says = words(language)
    shown = chosen(language, "modern", topic)
    heading = says[f"{topic}_word"] if topic else says["site"]
    stories = "\n".join(map(story, shown if topic else shown[:ON_HOME]))
    main = frame("modern_list.html").substitute(
        says, heading=heading, lead=says[f"{topic or 'home'}_lead"], stories=stories
    )
    return modern_page(says[topic or "home"], says[f"{topic or 'home'}_word"], language, main)


def notice_page(notice: Notice) -> str:
    """A page of the news site that is no article."""
    main = f"<h1>{escape(notice.title)}</h1>\n" + "\n".join(map(block_html, notice.blocks))
    head = f'<meta name="robots" content="{escape(notice.robots)}">' if notice.robots else ""
    return modern_page(notice.path, notice.title, notice.language, main, head)


def old_address(article: Article) -> str:
    """The address of an article of the old site as the pages beside it write it."""
    return article.path.rsplit("/", 1)[-1]


def old_page(path: str, title: str, language: str, main: str, declared: str) -> str:
    """A page of the site of the 2000s around its main part."""
    content = f"text/html; charset={declared}"
    links = (
        f'<tr><td><font size=2>·&nbsp;<a href="{old_address(a)}">{escape(a.title)}</a></font>'
        for a in chosen(language, "old")
    )
    return frame("old.html").substitute(
        words(language),
        path=path,
        title=escape(title),
        declaration=f'<META HTTP-EQUIV="Content-Type" CONTENT="{content}">\n' if declared else "",
        main=main,
        contents="\n".join(links),
    )


def old_article_page(article: Article) -> str:
    """An article as the site of the 2000s shows it."""
    indent = "&nbsp;" * 4 if article.language == "zh" else ""
    before, after = ("", "<br><br>") if article.breaks else ("<p>", "")
    main = frame("old_article.html").substitute(
        words(article.language),
        title=escape(article.title),
        author=escape(article.author),
        date=article.date,
        picture=picture_path(article),
        caption=escape(article.caption),
        related="&nbsp;|&nbsp;".join(f'<a href="{old_address(a)}">{escape(a.title)}</a>' for a in related(article)),
        body="\n".join(f"{before}{indent}{inline(block)}{after}" for block in article.blocks),
    )
    return old_page(article.path, article.title, article.language, main, article.declared)


def old_home_page(language: str, declared: str) -> str:
    """The front page of the site of the 2000s."""
    says = words(language)
    rows = "\n".join(
        f'<tr><td><a href="{old_address(a)}">{escape(a.title)}</a>&nbsp;&nbsp;<font size=2>{a.date}</font>'
        f"<br><font size=2>{teaser(a)}</font>"
        for a in chosen(language, "old")
    )
    main = frame("old_list.html").substitute(says, rows=rows)
    return old_page(says["old"], says["home_word"], language, main, declared)
