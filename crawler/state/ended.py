"""What ended leases cause besides pages: links added, counts, what was seen and said of pictures."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection, bindparam, update

from crawler.outcomes import Outcome
from crawler.state.addresses import Addresses, Shown, raise_best
from crawler.state.claims import count_sites
from crawler.state.entries import Candidate, Ended, Keys, Lent
from crawler.state.lines import storable
from crawler.state.pages import column_value
from crawler.state.pictures import keep_downloaded, keep_verdicts
from crawler.state.schema import DONE, WAITING, address

END = (
    update(address)
    .where(address.c.id == bindparam("lease"))
    .values(state=DONE, worker=None, outcome=bindparam("code"), outcome_detail=bindparam("detail"), sight=None)
)
# What is noise as a picture, while a link with words leads there too by now.
SPARE = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)


def add_links(
    connection: Connection, addresses: Addresses, keys: Keys, ended: Iterable[Ended], released: set[int]
) -> int:
    """Let the new ones among the links wait, or record them; how many wait."""
    links: dict[int, tuple[Candidate, int | None]] = {}
    shown: dict[int, Shown] = {}
    for one in ended:
        for link in one.result.links:
            key = keys(link.url, link.kind)
            if link.sight is None:
                links.setdefault(key, (link, one.lent.lease))
            else:
                shown.setdefault(key, Shown(link, one.lent.lease, one.lent.site_id))
    added = addresses.add(connection, links)
    alone = {key: shown[key] for key in shown.keys() - links.keys()}
    return added + addresses.record(connection, alone, released)


def end(connection: Connection, ended: Iterable[Ended]) -> set[int]:
    """End leases; those that wait again, because a link with words leads to what is noise as a picture."""
    spared = _spare(connection, ended)
    _count_ends(connection, ended)
    rows = [end_row(one.lent, one.result.outcome) for one in ended if one.lent.lease not in spared]
    if rows:
        connection.execute(END, sorted(rows, key=lambda row: row["lease"] or 0))
    return spared


def end_row(lent: Lent, outcome: Outcome | None) -> dict[str, Any]:
    """The parameters of END."""
    code, detail = (outcome.code, storable(outcome.detail) or None) if outcome is not None else (None, None)
    return {"lease": lent.lease, "code": code, "detail": detail}


def _spare(connection: Connection, ended: Iterable[Ended]) -> set[int]:
    """Those leases of noise that wait again."""
    noise = [one.lent.lease for one in ended if one.lent.counts and one.result.is_noise]
    if not noise:
        return set()
    rows = connection.execute(SPARE, {"leases": noise}).all()
    best: dict[int, int] = {}
    for row in rows:
        best[row.host_id] = max(best.get(row.host_id, row.priority), row.priority)
    raise_best(connection, best)
    return {row.id for row in rows}


def _count_ends(connection: Connection, ended: Iterable[Ended]) -> None:
    """Count the pages that sites were asked for by their results; noise was not asked for."""
    counts = {
        "stored": {"pages": 1, "held": -1},
        "brought nothing": {"held": -1},
        "noise": {"held": -1, "requests": -1},
    }
    sites: dict[str, Counter[int]] = {name: Counter() for name in counts}
    for one in ended:
        if one.lent.counts:
            nothing = "noise" if one.result.is_noise else "brought nothing"
            sites["stored" if one.is_page else nothing][one.lent.site_id] += 1
    for name, changes in counts.items():
        count_sites(connection, sites[name], **changes)


def keep_pictures(connection: Connection, keys: Keys, crawl_id: int, ended: Iterable[Ended]) -> None:
    """Keep what was said of the pictures that were judged."""
    verdicts, later = [], {}
    for one in ended:
        if (verdict := one.result.verdict) is not None:
            verdicts.append({name: column_value(value) for name, value in {**verdict, **_downloaded(one)}.items()})
        elif downloaded := _downloaded(one):  # by a run that judges nothing; an earlier one may have
            later[keys(one.lent.candidate.url, one.lent.candidate.kind)] = downloaded
    keep_verdicts(connection, crawl_id, verdicts)
    keep_downloaded(connection, later)


def _downloaded(ended: Ended) -> Mapping[str, Any]:
    """What a verdict is told of the picture that was downloaded; nothing where none was."""
    record = ended.result.record or {}
    if ended.lent.counts or record.get("size") is None:
        return {}
    # Pictures lie in a folder by the first letters of their names, whatever folder holds them all.
    file = "/".join(PurePosixPath(record["path"]).parts[-2:])
    return {"bytes": record["size"], "bytes_are_measured": True, "file": file or None}
