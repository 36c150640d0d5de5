-- Changes that are not yet passed on to the bundles that they concern. Rows are only added and
-- taken away, so that writers never wait for each other here.
CREATE TABLE changes (
    id {identity},
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Of a stack, before and after the change: either may select a bundle.
    definition TEXT
);

-- When which bundle is built. Times are milliseconds since 1970 by the clock of the database.
CREATE TABLE builds (
    bundle_id BIGINT PRIMARY KEY REFERENCES resources (id) ON DELETE CASCADE,
    -- Grows with every change that concerns the bundle.
    wanted BIGINT NOT NULL,
    -- When the next build may begin; NULL when only a change is a reason to build.
    due BIGINT,
    -- How many builds have failed since the last one that succeeded, or the last change.
    failures BIGINT NOT NULL,
    -- Who builds, and until when nobody else may. `claim` grows with every claim: whoever holds
    -- an older one has lost the bundle.
    owner TEXT NOT NULL,
    claim BIGINT NOT NULL,
    lease BIGINT NOT NULL,
    -- Digest of what was last written, and where to.
    published TEXT NOT NULL
);
CREATE INDEX builds_by_due ON builds (due);

-- What builds came to: one row for each revision of a bundle.
CREATE TABLE build_statuses (
    bundle_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    revision TEXT NOT NULL,
    phase TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (bundle_id, revision)
);

-- Bundles that were stored before any was built.
INSERT INTO changes (kind, name) SELECT kind, name FROM resources WHERE kind = 'bundle';
