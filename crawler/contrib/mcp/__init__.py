"""A server of the Model Context Protocol (https://modelcontextprotocol.io): tools by which agents clean pages, search
and read crawls, and start small ones.

Answers mark what they quote from the web as data (.answers). The tools (.tools) read the database briefly and read-only
(.stored_crawls). Pages are fetched (.page_fetch) and crawls run (.started_crawls) in processes of their own, by the
commands `page` and `crawl`.
"""
