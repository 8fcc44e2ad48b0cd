"""Decides whether an image is noise (advert, navigation, decoration) or content, from pages and counts.

A page's images become sightings, and those of a site are counted (.image_evidence). The features of a sighting
(.image_features) are read from the page around it (.page_features). A sighting is judged (.verdict) by the three models
of Li 2006 (.li2006), over the words that describe it and what its site shows elsewhere, by its size, and by a learned
model of its features (.learned_model); .verdict_reasons says why. Filter lists may overrule the verdict.
"""
