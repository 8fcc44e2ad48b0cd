"""Which link next: how relevant a page is to the topic, and how relevant a link is likely to be before it is fetched.

`focus.py` takes a page through these modules: its words are counted (`word_statistics`), it is compared with the topic
(`relevance`), its links wait (`link_table`), learn from what they lead to and get scores and priorities
(`link_scores`), again and again as more is known. What was learned is told to other workers (`shared_model`), and the
crawl may end when few pages are on the topic (`stop_rule`).
"""
