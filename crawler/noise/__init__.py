"""Is this image link noise (advert, navigation, decoration) or content? Pure: pages and counts in, verdicts out.

A page's pictures become sightings (.sighting), each with the signs of its place (.place), which are read from what
stands around it (.surroundings) and from what things are called (.called). A site's sightings are counted (.evidence).
A sighting is judged beside what its site shows elsewhere (.verdict): by three models of Li 2006 (.keyword, .redundancy,
.entropy) over the words that describe it (.words), and by a learned one that joins them with its signs (.learned) and
says why (.changes, .reasons).
"""
