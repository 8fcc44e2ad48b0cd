-- The tables as the release with version 1 made them.
CREATE TABLE address (
    id BIGSERIAL NOT NULL,
    key BIGINT NOT NULL,
    host_id BIGINT NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    priority INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    parent BIGINT,
    requested TEXT,
    state SMALLINT NOT NULL,
    worker BIGINT,
    lapses SMALLINT NOT NULL,
    outcome TEXT,
    PRIMARY KEY (id),
    UNIQUE (key)
);
CREATE INDEX address_held ON address (worker) WHERE state = 1;
CREATE INDEX address_left ON address (host_id) WHERE state = 3;
CREATE INDEX address_picture ON address (host_id) WHERE state = 0 AND kind = 'image';
CREATE INDEX address_waiting ON address (host_id, priority DESC, id) WHERE state = 0;
CREATE TABLE crawl (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    seeds TEXT NOT NULL,
    started_at FLOAT NOT NULL,
    ended_at FLOAT,
    waiting BIGINT NOT NULL,
    pages BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (name)
);
CREATE TABLE winnow_state (
    version INTEGER NOT NULL
);
CREATE TABLE host (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    best INTEGER,
    next_at FLOAT NOT NULL,
    pace FLOAT NOT NULL,
    worker BIGINT,
    closed TEXT,
    PRIMARY KEY (id),
    UNIQUE (crawl_id, name),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
CREATE INDEX host_ready ON host (crawl_id, best DESC, next_at) WHERE best IS NOT NULL AND worker IS NULL;
CREATE INDEX host_worker ON host (worker) WHERE worker IS NOT NULL;
CREATE TABLE lesson (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
CREATE TABLE output (
    crawl_id BIGINT NOT NULL,
    number INTEGER NOT NULL,
    place TEXT NOT NULL,
    pages_size BIGINT NOT NULL,
    images_size BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, number),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
CREATE TABLE page (
    id BIGSERIAL NOT NULL,
    key BIGINT NOT NULL,
    crawl_id BIGINT NOT NULL,
    url TEXT NOT NULL,
    requested_url TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    status INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    parent TEXT,
    language TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    published TEXT,
    relevance FLOAT NOT NULL,
    extractor TEXT NOT NULL,
    text_fingerprint TEXT,
    images TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    PRIMARY KEY (id),
    UNIQUE (key),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
CREATE INDEX page_age ON page (crawl_id, fetched_at);
CREATE TABLE site (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    pages INTEGER NOT NULL,
    held INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (crawl_id, name),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
CREATE TABLE worker (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    number INTEGER NOT NULL,
    place TEXT NOT NULL,
    beat FLOAT NOT NULL,
    batch BIGINT NOT NULL,
    waiting BIGINT NOT NULL,
    pages BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (crawl_id, number),
    FOREIGN KEY(crawl_id) REFERENCES crawl (id)
);
