"""What a crawl must not forget: here the frontier, the addresses it knows and those it still has to ask for."""
