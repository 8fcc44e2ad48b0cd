"""The export formats for data sets: Parquet, WARC and WACZ."""

from crawler.export.formats import Format

RECORD_COLUMNS = ("url", "fetched_at", "text", "rights", "revisited_at", "revisit_status")
"""The columns of pages that WARC records are made of."""
INDEX_COLUMNS = ("title", "status", "crawl")
"""The columns that the lists and the index of WACZ need in addition."""
PARQUET = Format("crawler.contrib.corpus.parquet:parquet", options=("types",), packs=False)
WARC = Format(
    "crawler.contrib.corpus.warc:warc",
    options=("robots",),
    needs=RECORD_COLUMNS,
    apart=True,
    chooses=False,
    has_responses=True,
)
WACZ = Format(
    "crawler.contrib.corpus.wacz:wacz",
    options=("robots", "folder"),
    needs=(*RECORD_COLUMNS, *INDEX_COLUMNS),
    packs=False,
    chooses=False,
    has_responses=True,
)
