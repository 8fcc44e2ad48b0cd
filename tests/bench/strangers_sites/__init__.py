"""The sites of strangers.py: their sources, the programs that build them, and the comparison with a crawl."""
