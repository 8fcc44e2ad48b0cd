"""A small bilingual site about honey bees and steam railways, served on loopback: `-a seeds=demo`."""

from .article import Article, articles
from .server import ADDRESS, PORT, free, serving
from .site import Resource, resources

__all__ = ["ADDRESS", "PORT", "Article", "Resource", "articles", "free", "resources", "serving"]
