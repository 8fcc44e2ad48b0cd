"""A server of the Model Context Protocol (https://modelcontextprotocol.io): tools with which agents clean pages, search
and read crawls, and start small ones.

Answers mark text from the web as data (.answers). The tools (.tools) read the database briefly and read-only
(.stored_crawls). Pages are fetched (.page_fetch) and crawls run (.started_crawls) in separate processes, by the
commands `page` and `crawl`.
"""
