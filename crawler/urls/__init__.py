"""Addresses on the web: their parts, one spelling for each, and the network addresses that a crawl may connect to."""
