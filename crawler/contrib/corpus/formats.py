"""The export formats for data sets: Parquet, WARC and WACZ."""

from crawler.export.formats import Format

OF_RECORDS = ("url", "fetched_at", "text", "rights", "revisited_at", "revisit_status")
"""The columns of pages that WARC records are made of."""
OF_LISTS = ("title", "status", "crawl")
"""The columns that WACZ needs in addition."""
PARQUET = Format("crawler.contrib.corpus.parquet:parquet", ("types",), packs=False)
WARC = Format(
    "crawler.contrib.corpus.warc:warc", ("robots",), OF_RECORDS, apart=True, chooses=False, has_responses=True
)
WACZ = Format(
    "crawler.contrib.corpus.wacz:wacz",
    ("robots", "folder"),
    (*OF_RECORDS, *OF_LISTS),
    packs=False,
    chooses=False,
    has_responses=True,
)
