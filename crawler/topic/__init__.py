"""Which link next: how relevant a page is to the topic, and how relevant a link is likely to be before it is fetched.

`focus.py` takes a page through these modules: its words are counted (`vocabulary`), it is compared with the topic
(`relevance`), the links and pages that led to it learn from it (`apprentice`), its links wait (`waiting_links`) and get
scores and priorities (`priority`), again and again as more is known. What was learned is told to other workers
(`learned_model`).
"""
