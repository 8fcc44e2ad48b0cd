"""Blogs by Hexo, Pelican, Nikola, Jekyll, Hugo and Eleventy."""

from collections.abc import Mapping, Sequence

from strangers_sites.site import Programs, Site, Workshop, yaml_lines
from strangers_sites.sources import AUTHORS, Document, front_matter, posts

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


def posts_of_one_author(_: Workshop) -> Sequence[Document]:
    """Hexo's themes show the author of the site, whatever a post says."""
    return posts(author=AUTHORS[0])


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


BLOGS = tuple(hexo(theme, f"127.0.41.{number}") for number, theme in enumerate(HEXO_THEMES, 1))
