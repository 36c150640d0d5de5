-- Everything that has a kind and a name. `definition` is JSON; of a secret, its sealed value.
-- An id is never used twice, so that a cursor stands for one place in a list.
CREATE TABLE resources (
    id {identity},
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    definition TEXT NOT NULL,
    UNIQUE (kind, name)
);
CREATE INDEX resources_by_kind ON resources (kind, id);
CREATE INDEX resources_by_owner ON resources (owner, kind, id);

-- Which resource requires which source.
CREATE TABLE source_uses (
    user_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    source_id BIGINT NOT NULL REFERENCES resources (id),
    PRIMARY KEY (user_id, source_id)
);
CREATE INDEX source_uses_by_source ON source_uses (source_id, user_id);

-- Which resource names which secret, and where. By name: some may be named before they exist.
CREATE TABLE secret_uses (
    user_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    place TEXT NOT NULL,
    PRIMARY KEY (user_id, secret, place)
);
CREATE INDEX secret_uses_by_secret ON secret_uses (secret, user_id);

-- The documents of sources; they go with their source.
CREATE TABLE documents (
    source_id BIGINT NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (source_id, path)
);

-- A sealed text that only the right encryption key opens.
CREATE TABLE keyring (sealed TEXT NOT NULL);
