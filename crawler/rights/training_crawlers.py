"""The crawlers that collect pages for the training of models, by the names that robots.txt uses for them.

According to public lists of crawlers, pages that these crawlers collect are used for training, or their names exist
only so that a site can refuse that use. Crawlers that fetch a page for a reader or a search index are not listed.
"""

AS_OF = "2026-11-27"
"""The day of the list."""
TRAINING_CRAWLERS = {
    "AI2Bot": "Allen Institute for AI",
    "Ai2Bot-Dolma": "Allen Institute for AI",
    "anthropic-ai": "Anthropic, an earlier name",
    "Applebot-Extended": "Apple",
    "Bytespider": "ByteDance",
    "CCBot": "Common Crawl",
    "ClaudeBot": "Anthropic",
    "cohere-training-data-crawler": "Cohere",
    "Diffbot": "Diffbot",
    "FacebookBot": "Meta, an earlier name",
    "Google-Extended": "Google",
    "GPTBot": "OpenAI",
    "meta-externalagent": "Meta",
    "omgili": "Webz.io",
    "PanguBot": "Huawei",
    "Timpibot": "Timpi",
    "Webzio-Extended": "Webz.io",
}
"""The crawlers, each with its operator."""
