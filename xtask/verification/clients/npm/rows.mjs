// The rows that filters select from, in SQLite and in PostgreSQL, which runs in this process.

import { PGlite } from "@electric-sql/pglite";
import { createClient } from "@libsql/client";

export const SCHEMA = [
  "CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
  "CREATE TABLE fruits (id INTEGER PRIMARY KEY, name TEXT NOT NULL, colour TEXT, price REAL, " +
    "ripe BOOLEAN NOT NULL, owner_id INTEGER REFERENCES owners (id))",
  "INSERT INTO owners VALUES (1, 'ann'), (2, 'bob'), (3, 'apple')",
  `INSERT INTO fruits VALUES
     (1, 'apple', 'red', 1, true, 1), (2, 'banana', 'yellow', 2.5, true, 2),
     (3, 'cherry', 'red', 10, false, 2), (4, 'grape', 'green', 3, true, null),
     (5, 'dragon%_fruit', 'Red', 9, false, 1), (6, 'o''range', 'orange', null, true, 1),
     (7, 'plum', null, 4, false, 2), (8, 'apple', 'green', 2.5, true, 3)`,
];

// A function for each database, from a condition to the ids that it selects.
export async function databases() {
  const sqlite = createClient({ url: ":memory:" });
  const postgresql = new PGlite();
  for (const statement of SCHEMA) {
    await sqlite.execute(statement);
    await postgresql.exec(statement);
  }
  const select =
    "SELECT fruits.id FROM fruits LEFT JOIN owners ON owners.id = fruits.owner_id ";
  const order = " ORDER BY fruits.id";
  return {
    sqlite: async (where) => ids(await sqlite.execute(select + where + order)),
    postgresql: async (where) => ids(await postgresql.query(select + where + order)),
    close: () => postgresql.close(),
  };
}

function ids({ rows }) {
  return rows.map((row) => Number(row.id));
}
