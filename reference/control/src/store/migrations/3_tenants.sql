-- Whether everybody may refer to a source or a secret, and not only its owner.
ALTER TABLE resources ADD COLUMN shared BIGINT NOT NULL DEFAULT 0;

-- With whose rights a reference is followed: `*` are those of somebody who sees everything,
-- `=NAME` those of NAME. Nothing are those of a reference that is older than this column, which
-- is followed wherever it leads.
ALTER TABLE source_uses ADD COLUMN rights TEXT NOT NULL DEFAULT '';
ALTER TABLE secret_uses ADD COLUMN rights TEXT NOT NULL DEFAULT '';

-- Which bundle has which place in a storage: digests of places, each written in one way only.
-- A bundle has a place for each way in which others could be led to it.
CREATE TABLE places (
    place TEXT PRIMARY KEY,
    bundle_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE
);
CREATE INDEX places_by_bundle ON places (bundle_id);
