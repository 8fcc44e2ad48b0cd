"""Decides which link is next: how relevant a page is, and how relevant a link probably is before it is fetched.

`focus.py` passes a page through these modules: its words are counted (`word_statistics`), it is compared with the topic
(`relevance`), its links are queued (`link_table`), learn from what they lead to and get scores and priorities
(`link_scores`), again and again as more is known. What was learned is shared with other workers (`shared_model`), and
the crawl may end if few pages are on the topic (`stop_rule`).
"""
