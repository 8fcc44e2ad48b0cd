"""The pages of the site of the 2000s, as HTML text: tables, fonts, spacers and tags that nobody closed."""

from html import escape

from crawler.demo.article import Article, related
from crawler.demo.frame import chosen, frame, inline, picture_path, teaser, words


def local(article: Article) -> str:
    """The address of an article of the old site as the pages beside it write it."""
    return article.path.rsplit("/", 1)[-1]


def page(path: str, title: str, language: str, main: str, declared: str) -> str:
    """A page of the site of the 2000s around its main part."""
    content = f"text/html; charset={declared}"
    links = (
        f'<tr><td><font size=2>·&nbsp;<a href="{local(a)}">{escape(a.title)}</a></font>'
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


def article_page(article: Article) -> str:
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
        related="&nbsp;|&nbsp;".join(f'<a href="{local(a)}">{escape(a.title)}</a>' for a in related(article)),
        body="\n".join(f"{before}{indent}{inline(block)}{after}" for block in article.blocks),
    )
    return page(article.path, article.title, article.language, main, article.declared)


def home_page(language: str, declared: str) -> str:
    """The front page of the site of the 2000s."""
    says = words(language)
    rows = "\n".join(
        f'<tr><td><a href="{local(a)}">{escape(a.title)}</a>&nbsp;&nbsp;<font size=2>{a.date}</font>'
        f"<br><font size=2>{teaser(a)}</font>"
        for a in chosen(language, "old")
    )
    main = frame("old_list.html").substitute(says, rows=rows)
    return page(says["old"], says["home_word"], language, main, declared)
