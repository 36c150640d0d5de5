-- The folders that the file of a bundle lies in, as digests like those of places: no other bundle
-- can be written in the place of one of them.
CREATE TABLE place_folders (
    folder TEXT NOT NULL,
    bundle_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    PRIMARY KEY (folder, bundle_id)
);
CREATE INDEX place_folders_by_bundle ON place_folders (bundle_id);

-- The start that follows finds the places of files anew, with their folders.
DELETE FROM places WHERE bundle_id IN
    (SELECT id FROM resources WHERE kind = 'bundle' AND definition LIKE '%"filesystem"%');
