"""The view "images": lists of kept and skipped images, people's labels, and the error rates of the verdicts.

A verdict says whether an image, or the page behind it, is content or noise. Noise is skipped, except for a random share
that the audit requests all the same; its images are judged again by their size.
"""

import math
import time
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, Integer, Row, case, cast, func, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, Text, Whole, see_other, slow
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.dashboard.views.choices import (
    ChosenCrawl,
    SiteChoice,
    chosen_crawl,
    chosen_site,
    crawl_names,
    latest_with,
    offered_sites,
)
from crawler.contrib.dashboard.views.judged_images import (
    JUDGED,
    KINDS,
    ImageList,
    ShownImage,
    VerdictFilter,
    image,
    judged,
    labels_of,
    least_certain,
    list_verdicts,
)
from crawler.frontier.page_result import AddressKind
from crawler.noise.verdict import BY_LIST, MODELS
from crawler.store.labels import Label, put_label, remove_label
from crawler.store.page_tables import IS_AUDITED, LabelKind, label, verdict
from crawler.translation.message import N_

AT_ONCE = 24
"""Images in a part of a list."""
MOST_DOUBTFUL = 48
"""The most images in the list of doubtful images."""
router = APIRouter()
api = APIRouter()
NO_SITE = SiteChoice(None)
NORMAL_DEVIATIONS = 1.959964
"""The middle 95% of a normal distribution reaches this many standard deviations to each side."""
DOUBTFUL_FILTERS = ("kind",)
"""The parameters that filter the list of doubtful images."""
FILTERS = (*DOUBTFUL_FILTERS, "site", "by", "only")
"""The parameters that filter the other lists."""
CrawlName = Annotated[Text, Query(description=N_("name of the crawl; by default the newest that judged images"))]


class ImageParameters(BaseModel):
    """Which images are listed."""

    crawl: CrawlName = ""
    wall: Literal["both", "kept", "skipped", "doubtful"] = Field(
        default="both", description=N_("the list; doubtful can be filtered only by kind")
    )
    kind: Literal["all", "image", "link"] = Field(
        default="all", description=N_("images, or the pages that images lead to")
    )
    site: Text = Field(default="", description=N_("the site whose pages show them: its name or a part of it"))
    by: Literal["", "learned", "size", "keyword", "redundancy", "entropy", "filter_list"] = Field(
        default="", description=N_("the model that called them noise")
    )
    only: Literal["all", "audited", "marked", "disputed"] = Field(
        default="all",
        description=N_("images that the audit downloaded, that have a label, or whose label differs from the verdict"),
    )
    kept_before: Whole = Field(
        default=0, description=N_("the next kept images: the value of before from the previous response")
    )
    skipped_before: Whole = Field(
        default=0, description=N_("the next skipped images: the value of before from the previous response")
    )


Parameters = Annotated[ImageParameters, Query()]
VerdictNumber = Annotated[Number, Path(alias="verdict")]
PeoplesLabel = Annotated[Literal["content", "noise", "none"], Query()]


@dataclass(frozen=True, slots=True)
class ImageLists:
    """The requested lists of a crawl."""

    crawl: str
    kept: ImageList | None
    skipped: ImageList | None
    doubtful: ImageList | None
    """The images without a label whose probabilities are nearest to the limit of noise."""
    site: SiteChoice = NO_SITE
    """The requested site, if any."""


@dataclass(frozen=True, slots=True)
class ErrorShare:
    """How many of the checked verdicts are wrong, and the 95% interval (Wilson) for the share of wrong verdicts."""

    wrong: int
    of: int
    """The number of verdicts that were checked."""
    share: float | None
    """None if no verdict was checked, like the bounds of the interval."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class AuditShare:
    """The result of the audit for noise of one kind."""

    kind: str
    chosen: int
    """Noise that was chosen for the audit. A digest of the address decides, which amounts to a random choice."""
    mistaken: ErrorShare
    """Chosen images that are as large as content, among the chosen images whose size in pixels is known."""


@dataclass(frozen=True, slots=True)
class ImageErrors:
    """The error rates of the verdicts, by the audit and by people's labels."""

    crawl: str
    audit: tuple[AuditShare, ...]
    skipped: ErrorShare
    """Images that are content by their labels, among the labelled images that were skipped."""
    kept: ErrorShare
    """Images that are noise by their labels, among the labelled images that were kept."""
    unknown: int
    """Labels of images that have no verdict now."""


@api.get("/api/images", summary=N_("Images that were kept or skipped, with verdicts, scores, reasons and labels"))
def lists(context: Context, parameters: Parameters) -> ImageLists:
    """The requested lists of images."""
    with context.reading() as connection:
        return _lists(connection, chosen_crawl(connection, parameters.crawl, latest_with(verdict)), parameters)


@api.get("/api/images/error-rate", summary=N_("How often images are judged wrongly, by audit and by labels"))
def error_rate(context: Context, crawl: CrawlName = "") -> ImageErrors:
    """How often images are judged wrongly."""
    with context.reading() as connection:
        chosen = chosen_crawl(connection, crawl, latest_with(verdict))
        if chosen is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has judged images yet.")
        return image_errors(connection, chosen.id, chosen.name)


@api.get("/api/images/{verdict}", summary=N_("A judged image, with its verdict, scores, reasons and labels"))
def one(context: Context, number: VerdictNumber) -> ShownImage:
    """A judged image."""
    with context.reading() as connection:
        return judged(_row(connection, number))


@router.get("/images")
def show(context: Context, request: Request, parameters: Parameters) -> Response:
    with context.reading() as connection:
        crawl = chosen_crawl(connection, parameters.crawl, latest_with(verdict))
        image_lists = _lists(connection, crawl, parameters)
        crawls = crawl_names(connection, image_lists.crawl)
        rate: ImageErrors | None = None
        sites: list[str] = []
        if crawl is not None:
            rate = image_errors(connection, crawl.id, crawl.name)
            sites = offered_sites(connection, crawl.id)

    filters = DOUBTFUL_FILTERS if parameters.wall == "doubtful" else FILTERS
    used_filters = _without_defaults(parameters.model_dump()).keys() & filters
    return context.page(
        request,
        "images.html",
        found=image_lists,
        rate=rate,
        given=parameters,
        crawls=crawls,
        sites=sites,
        filtered=len(used_filters),
        models=(*MODELS, BY_LIST),
        # The address of this page with other values of some parameters.
        address=lambda **other: (
            f"{context.root}/images?{urlencode(_without_defaults({**parameters.model_dump(), **other}))}"
        ),
    )


@router.get("/images/{verdict}")
def show_one(context: Context, request: Request, number: VerdictNumber) -> Response:
    with context.reading() as connection:
        row = _row(connection, number)
    return context.page(request, "images_one.html", one=judged(row), crawl=row.crawl)


@router.get("/images/{verdict}/image")
def show_image(context: Context, number: VerdictNumber) -> Response:
    with context.reading() as connection:
        row = _row(connection, number)
    response: Response | None = None
    if row.file:
        response = image(context.output / "images" / row.file)
    if response is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This image is not stored here.")
    return response


@slow(router.post("/images/{verdict}/mark"))
def set_label(
    context: Context,
    request: Request,
    number: VerdictNumber,
    value: PeoplesLabel,
) -> Response:
    with context.reading() as connection:
        row = _row(connection, number)
    label = Label(
        kind=LabelKind.IMAGE,
        crawl=row.crawl,
        url=row.url,
        page=row.page,
        value=value,
        detail=row.sight,
        said_at=time.time(),
    )
    action = Action.LABEL_REMOVED if value == "none" else Action(value)
    with context.changing() as engine:
        if value == "none":
            remove_label(engine, label.key)
        else:
            put_label(engine, label)
    context.record(request, action, row.url)
    return see_other(f"/images/{number}")


def _lists(connection: Connection, crawl: ChosenCrawl | None, parameters: ImageParameters) -> ImageLists:
    """The requested lists of a crawl."""
    if crawl is None:
        return ImageLists("", kept=None, skipped=None, doubtful=None)
    kinds = KINDS if parameters.kind == "all" else (AddressKind(parameters.kind),)
    if parameters.wall == "doubtful":
        doubtful = ImageList(least_certain(connection, crawl.id, kinds, MOST_DOUBTFUL), before=0)
        return ImageLists(crawl.name, kept=None, skipped=None, doubtful=doubtful)

    site = parameters.site.strip()
    site_choice = chosen_site(connection, crawl.id, site) if site else NO_SITE
    audited = parameters.only == "audited"
    disputed = parameters.only == "disputed"

    def listed(name: str, noise: bool) -> ImageList | None:
        """The list of kept or skipped images; None if it is not requested."""
        if parameters.wall not in ("both", name):
            return None
        has_no_site = site and site_choice.id is None
        is_about_noise = parameters.by or audited  # these filters match no content
        if has_no_site or (is_about_noise and not noise):
            return ImageList((), before=0)
        is_labelled = disputed or parameters.only == "marked"
        verdict_filter = VerdictFilter(
            noise=noise,
            kinds=kinds,
            site_id=site_choice.id,
            by=parameters.by,
            audited=audited,
            labelled=is_labelled,
            disputed=disputed,
        )
        before = parameters.skipped_before if noise else parameters.kept_before
        return list_verdicts(connection, crawl.id, verdict_filter, before, AT_ONCE)

    return ImageLists(
        crawl.name,
        kept=listed("kept", noise=False),
        skipped=listed("skipped", noise=True),
        doubtful=None,
        site=site_choice,
    )


def _row(connection: Connection, number: int) -> Row[*tuple[Any, ...]]:
    """The row of JUDGED with this number; raises a RefusedError if there is none."""
    row = connection.execute(JUDGED.where(verdict.c.id == number)).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such image.")
    return row


def _without_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    defaults = ImageParameters().model_dump()
    return {name: value for name, value in values.items() if value != defaults.get(name)}


def image_errors(connection: Connection, crawl_id: int, name: str) -> ImageErrors:
    """The error rates of a crawl's verdicts."""
    agreements = agreement(connection, crawl_id)
    return ImageErrors(
        name,
        audits(connection, crawl_id),
        skipped=wilson(agreements["content_skipped"], agreements["content_skipped"] + agreements["noise_skipped"]),
        kept=wilson(agreements["noise_kept"], agreements["noise_kept"] + agreements["content_kept"]),
        unknown=agreements["unknown"],
    )


def audits(connection: Connection, crawl_id: int) -> tuple[AuditShare, ...]:
    """The result of a crawl's audit, by kind."""
    counts = (func.count(), func.count(verdict.c.mistaken), func.count().filter(verdict.c.mistaken))
    query = select(verdict.c.kind, *counts).where(verdict.c.crawl_id == crawl_id, IS_AUDITED)
    rows = connection.execute(query.group_by(verdict.c.kind).order_by(verdict.c.kind))
    return tuple(
        AuditShare(kind, chosen, wilson(mistaken, judged_by_size)) for kind, chosen, judged_by_size, mistaken in rows
    )


def agreement(connection: Connection, crawl_id: int) -> Counter[str]:
    """The number of labels that agree and disagree with the verdicts on their images.

    The keys are `content_kept`, `content_skipped`, `noise_kept` and `noise_skipped`, from label and verdict; and
    `unknown` for labels of images without a verdict. If only the pages behind an image have verdicts, the image counts
    as kept if one of these pages was kept.
    """
    # The rank of a verdict is 0 for a kept image, 1 for a skipped image, 2 for a kept page behind an image, and 3 for a
    # skipped page. A label counts by the lowest rank of its verdicts.
    rank = case((verdict.c.kind == AddressKind.IMAGE, 0), else_=2) + cast(verdict.c.noise, Integer)
    ranks = select(label.c.value, func.min(rank).label("rank")).outerjoin_from(
        label, verdict, label.c.key == verdict.c.label_key
    )
    labels = ranks.where(*labels_of(crawl_id)).group_by(label.c.id, label.c.value).subquery()
    counts = Counter[str]()
    for value, least_rank, count in connection.execute(
        select(labels.c.value, labels.c.rank, func.count()).group_by(labels.c.value, labels.c.rank)
    ):
        if least_rank is None:
            counts["unknown"] += count
        elif least_rank in (1, 3):
            counts[f"{value}_skipped"] += count
        else:
            counts[f"{value}_kept"] += count
    return counts


def wilson(wrong: int, of: int) -> ErrorShare:
    """The share of `wrong` among `of` cases, with Wilson's interval, which is also valid for few cases and for shares
    near 0.

    https://doi.org/10.1080/01621459.1927.10502953

    >>> found = wilson(2, 50)
    >>> found.share, round(found.low, 3), round(found.high, 3), wilson(0, 0).share
    (0.04, 0.011, 0.135, None)
    """
    if not of:
        return ErrorShare(0, 0, None, None, None)
    share = wrong / of
    spread = NORMAL_DEVIATIONS**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = NORMAL_DEVIATIONS * math.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return ErrorShare(wrong, of, share, max(0.0, middle - half), min(1.0, middle + half))
