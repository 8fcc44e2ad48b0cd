"""The crawlers that collect pages for the training of models, by the names that robots.txt uses for them.

By public lists of crawlers, pages that these collect are used for training, or the name is for refusing that use.
Crawlers that look a page up for a reader or for an index of search are not in the list.
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
