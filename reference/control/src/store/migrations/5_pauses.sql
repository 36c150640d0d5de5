-- How long after its last build a bundle is due again if nothing changes. What was built before
-- this was kept may be built once too early.
ALTER TABLE builds ADD COLUMN pause BIGINT NOT NULL DEFAULT 0;
