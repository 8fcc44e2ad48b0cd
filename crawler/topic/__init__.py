"""Which link next: what a page is worth to the topic, and what a link promises before it is fetched.

`focus.py` takes a page through these modules: its words are counted (`vocabulary`), it is compared with the topic
(`keywords`, `subject`), what led to it learns from it (`apprentice`, `trails`), its links wait (`waiting`) and are
given scores (`scores`) and priorities (`choice`), again and again as more is known.
"""
