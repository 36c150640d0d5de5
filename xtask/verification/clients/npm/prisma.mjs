// The rows that Prisma selects by the filters of a server, whose address is the argument, from a
// database in a file, which is the second one.

import { createRequire } from "node:module";
import { OPAClient } from "@open-policy-agent/opa";
import { mask, ucastToPrisma } from "@open-policy-agent/ucast-prisma";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { run } from "./cases.mjs";
import { SCHEMA } from "./rows.mjs";

const { PrismaClient } = createRequire(import.meta.url)("./generated");

const [, , url, file] = process.argv;
const client = new OPAClient(url);
const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url: `file:${file}` }) });
for (const statement of SCHEMA) await prisma.$executeRawUnsafe(statement);

const FILTERS = [
  ["same_colour", { colour: "red" }],
  ["same_colour", { colour: "it's \\ \"%_" }],
  ["same_colour", { colour: null }],
  ["same_colour", { colour: 7 }],
  ["same_colour", {}],
  ["other_colour", { colour: "red" }],
  ["cheaper", { price: 3 }],
  ["at_most", { price: 2.5 }],
  ["dearer", { price: -1 }],
  ["at_least", { price: 1e3 }],
  ["one_of", { colours: ["red", "green"] }],
  ["one_of", { colours: [] }],
  ["one_of", { colours: ["red", null] }],
  ["none_of", { colours: ["red"] }],
  ["none_of", { colours: [] }],
  ["begins", { text: "app" }],
  ["begins", { text: "" }],
  ["ends", { text: "e" }],
  ["holds", { text: "%_" }],
  ["both", { colours: ["red"], price: 3 }],
  ["both", { colours: [], price: 3 }],
  ["either", { colours: ["red"], price: 3 }],
  ["either", { colours: [], price: 3 }],
  ["of_owner", { user: "ann" }],
  ["without_price", {}],
  ["columns", {}],
  ["flagged", {}],
  ["never", {}],
  ["always", { colours: [] }],
  ["for_admin", { user: "admin" }],
  ["for_admin", { user: "guest" }],
  ["for_admin", { user: "nobody" }],
  ["helped", { colour: "red" }],
  ["masked", { colours: ["red"], user: "admin" }],
  ["masked", { colours: ["red"], user: "guest" }],
  ["masked", { colours: [], user: "guest" }],
];

const select = (where) =>
  prisma.fruits.findMany({ where, orderBy: { id: "asc" }, include: { owners: true } });

// As the documents of the package show it: the translation and the masks of the client.
const cases = FILTERS.map(([rule, input]) => [
  `rows/${rule}/${JSON.stringify(input)}`,
  async () => {
    const filter = await client.getFilters(`filters/${rule}`, input, "fruits");
    return (await select(filter.query)).map(filter.mask).map(told);
  },
]);

// The package alone, with the filter for every reader, and other names of tables and columns.
for (const [rule, input] of FILTERS.slice(0, 12)) {
  cases.push([
    `translated/${rule}/${JSON.stringify(input)}`,
    async () => {
      const { query } = await client.getFilters(`filters/${rule}`, input, { target: "ucastALL" });
      const translations = { fruits: { colour: "name" } };
      return (await select(ucastToPrisma(query, "fruits", { translations }))).map(told);
    },
  ]);
}
cases.push([
  "mask",
  async () => {
    const input = { colours: ["red"], user: "guest" };
    const { query, masks } = await client.getFilters("filters/masked", input, { target: "ucastPrisma", ucastPrisma: { primary: "fruits" } });
    return (await select(query)).map((row) => told(mask(masks, row, "fruits")));
  },
]);

await run(cases);
await prisma.$disconnect();

function told({ id, name, price, owners }) {
  return [id, name, price, owners?.name];
}
