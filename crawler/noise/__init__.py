"""Is this image link noise (advert, navigation, decoration) or content? Pure: pages and counts in, verdicts out.

A page's pictures become sightings (.sighting), a site's sightings are counted (.evidence), and a sighting is judged
beside what its site shows elsewhere (.verdict), by three models of Li 2006 (.keyword, .redundancy, .entropy) and by a
learned one that joins them with what the page tells.
"""
