-- Whose bundle it is: owners take turns.
ALTER TABLE builds ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
UPDATE builds SET tenant = (SELECT owner FROM resources WHERE id = bundle_id);

-- How many processes have ended while they built it, since it was built or defined anew.
ALTER TABLE builds ADD COLUMN deaths BIGINT NOT NULL DEFAULT 0;

-- Whether the documents of a source change, and no definition.
ALTER TABLE changes ADD COLUMN data BIGINT NOT NULL DEFAULT 0;

-- In the order in which the bundles of each owner are claimed.
DROP INDEX builds_by_due;
DROP INDEX builds_changed;
CREATE INDEX builds_by_due ON builds (tenant, due, bundle_id);
CREATE INDEX builds_changed ON builds (tenant, due, bundle_id) WHERE wanted > seen;

-- Those that somebody builds, or did until the process ended.
CREATE INDEX builds_suspected ON builds (due, bundle_id) WHERE owner <> '' OR deaths > 0;
