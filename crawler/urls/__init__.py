"""Addresses on the web: their parts, one spelling for each, which a crawl may ask for."""
