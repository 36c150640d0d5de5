-- A row that is written to find out whether the database can be written.
CREATE TABLE probes (id BIGINT PRIMARY KEY, written BIGINT NOT NULL);
INSERT INTO probes (id, written) VALUES (1, 0);
