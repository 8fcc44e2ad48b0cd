"""Names of licences, as SPDX spells them, from their addresses and from short texts."""

import re

MAX_TEXT = 300
"""Characters of a text in which a name is looked for."""
# The parts of a Creative Commons licence. In addresses of early versions, `by` may be missing and `nd` may come before
# `nc`.
_KINDS = r"by(?:-(?:nc|sa|nd)){0,2}|nc(?:-sa)?|sa|nd(?:-nc)?"
_CC = re.compile(
    r"//(?:www\.|i\.)?(?:creativecommons\.org|licensebuttons\.net)/(?:"
    rf"(?:licenses|l)/(?P<kind>{_KINDS})(?:/(?P<version>\d\.\d))?(?:/(?P<place>[a-z]{{2,3}})(?=[/?#]|$))?"
    r"|(?:publicdomain|p)/(?P<domain>zero|mark)(?:/(?P<domain_version>\d\.\d))?"
    r"|licenses/publicdomain"
    r")(?=[/?#.]|$)",
    re.IGNORECASE,
)
_CC_TEXT = re.compile(
    r"\bCC[ -](?P<kind>BY(?:-(?:NC|SA|ND)){0,2})(?:[ -]v?(?P<version>\d\.\d))?(?![\w.]*\d)", re.IGNORECASE
)
_CC0_TEXT = re.compile(r"\bCC[ -]?0(?:[ -](?:v ?)?1\.0)?\b", re.IGNORECASE)
# Addresses that end with the name of a licence.
_NAMED = re.compile(
    r"(?:https?:)?//(?:www\.)?(?:opensource\.org/licen[sc]es?|spdx\.org/licenses|choosealicense\.com/licenses)/"
    r"(?P<name>[A-Za-z0-9.+-]{1,40}?)(?:\.html|\.php)?/?(?:[?#]|$)"
)
# Addresses of licences on the sites of their authors, each with the licence's name; the group is the version.
_OTHERS = {
    re.compile(rf"(?:https?:)?//(?:www\.)?{pattern}", re.IGNORECASE): name
    for pattern, name in {
        r"gnu\.org/(?:licenses|copyleft)/(?:old-licenses/)?fdl(?:-(\d\.\d))?": "GFDL",
        r"gnu\.org/(?:licenses|copyleft)/(?:old-licenses/)?gpl(?:-(\d\.\d))?": "GPL",
        r"gnu\.org/(?:licenses|copyleft)/(?:old-licenses/)?lgpl(?:-(\d\.\d))?": "LGPL",
        r"gnu\.org/licenses/agpl(?:-(\d\.\d))?": "AGPL",
        r"apache\.org/licenses/license-(\d\.\d)": "Apache",
        r"mozilla\.org/(?:[a-z-]+/)?mpl/(\d\.\d)": "MPL",
        r"opendatacommons\.org/licenses/odbl(?:/(\d[.-]\d))?": "ODbL",
        r"opendatacommons\.org/licenses/by(?:/(\d[.-]\d))?": "ODC-By",
        r"opendatacommons\.org/licenses/pddl(?:/(\d[.-]\d))?": "PDDL",
        r"nationalarchives\.gov\.uk/doc/open-government-licence/version/(\d)": "OGL-UK",
    }.items()
}
_SPELLED = {
    name.lower().replace(".", "-"): name
    for name in "MIT BSD-2-Clause BSD-3-Clause Apache-2.0 GPL-2.0 GPL-3.0 LGPL-3.0 AGPL-3.0 MPL-2.0".split()
}
"""The names of licences, by their spelling in addresses of the Open Source Initiative: `apache-2-0` is Apache-2.0."""
_ORDER = ("by", "nc", "sa", "nd")
"""The order of the parts of a name in SPDX."""


def licence_name(text: str) -> str | None:
    """The name of the licence at an address or in a short text, or None.

    >>> licence_name("https://creativecommons.org/licenses/by-sa/4.0/deed.de"), licence_name("//spdx.org/licenses/MIT")
    ('CC-BY-SA-4.0', 'MIT')
    >>> licence_name("Licensed under CC BY-NC 3.0."), licence_name("All rights reserved")
    ('CC-BY-NC-3.0', None)
    """
    text = text.strip()[:MAX_TEXT]
    match = _CC.search(text)
    if match:
        return _creative_commons(match)
    match = _NAMED.search(text)
    if match:
        return _SPELLED.get(match["name"].lower(), match["name"])
    for pattern, name in _OTHERS.items():
        match = pattern.search(text)
        if match and match[1]:
            return f"{name}-{_two_numbers(match[1])}"
        if match:
            return name
    match = _CC_TEXT.search(text)
    if match:
        return _joined(match["kind"], match["version"], None)
    if _CC0_TEXT.search(text):
        return "CC0-1.0"
    return None


def _two_numbers(version: str) -> str:
    """A version as SPDX writes it, with a point and a second number."""
    if len(version) > 1:
        return version.replace("-", ".")
    return f"{version}.0"


def _creative_commons(address_match: re.Match[str]) -> str:
    """The name of the Creative Commons licence, or mark of the public domain, at an address."""
    version = address_match["domain_version"] or "1.0"
    if address_match["domain"] and address_match["domain"].lower() == "zero":
        return f"CC0-{version}"
    if address_match["domain"]:
        return f"CC-PDM-{version}"
    if address_match["kind"]:
        return _joined(address_match["kind"], address_match["version"], address_match["place"])
    return "CC-PDDC"  # licenses/publicdomain


def _joined(kind: str, version: str | None, place: str | None) -> str:
    """The name with these parts in the order of SPDX. `place` is the country of a ported licence.

    >>> _joined("by-nd-nc", "1.0", None), _joined("BY", "3.0", "at")
    ('CC-BY-NC-ND-1.0', 'CC-BY-3.0-AT')
    """
    parts = sorted(kind.lower().split("-"), key=_ORDER.index)
    return "-".join(("CC", *parts, *filter(None, (version, place)))).upper()
