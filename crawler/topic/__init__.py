"""Decides which link is next: computes the relevance of pages, and predicts that of links before they are fetched.

`focus.py` passes a page through these modules: its words are counted (`word_statistics`), it is compared with the topic
(`relevance`), and its links are queued (`link_table`) and get scores and priorities (`link_scores`), which improve as
more is known about the pages that links lead to. The results are shared with other workers (`shared_model`), and the
crawl may end if few pages are on the topic (`stop_rule`).
"""
