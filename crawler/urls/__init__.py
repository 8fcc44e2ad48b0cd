"""Addresses on the web: their parts, one spelling for each, and which ones a crawl may request."""
