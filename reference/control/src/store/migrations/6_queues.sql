-- The count of changes that the last build has seen. With fewer than are wanted, a change waits to
-- be built, and comes before what is only built again. What is due already stays so.
ALTER TABLE builds ADD COLUMN seen BIGINT NOT NULL DEFAULT 0;
UPDATE builds SET seen = wanted;

-- In the order in which bundles are claimed.
DROP INDEX builds_by_due;
CREATE INDEX builds_by_due ON builds (due, bundle_id);
CREATE INDEX builds_changed ON builds (due, bundle_id) WHERE wanted > seen;
