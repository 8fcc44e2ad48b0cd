"""A small bilingual site about honey bees and steam railways, served on loopback: `-a seeds=demo`."""

from crawler.demo.article import Article, articles
from crawler.demo.server import ADDRESS, PORT, is_free, serving
from crawler.demo.site import Resource, resources

__all__ = ["ADDRESS", "PORT", "Article", "Resource", "articles", "is_free", "resources", "serving"]
