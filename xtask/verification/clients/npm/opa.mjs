// What callers of `@open-policy-agent/opa` see of a server, whose address is the argument.

import { OPAClient } from "@open-policy-agent/opa";
import { OpaApiClient } from "@open-policy-agent/opa/sdk/sdk";
import { failure, run } from "./cases.mjs";
import { databases } from "./rows.mjs";

const [, , url] = process.argv;
const client = new OPAClient(url);
const api = new OpaApiClient({ serverURL: url });
const database = await databases();

const VALUES = [
  "truth", "lie", "nothing", "whole", "fraction", "text", "list", "unique", "object_of_all",
  "absent", "roles", "roles/ann", "dashed/a-b%2Fc", "dashed/a-b/c", "loud", "deep/er", "deep/er/still",
  "has_input", "broken", "always_broken", "none/at/all",
];
const ECHOES = [
  { user: { name: "ann" } }, [1, 2, [3]], "text", 0, 1.5e300, -1, true, false, null, {}, [], "",
  { "": { "a/b~c": "ü" } },
];
const BATCH = { one: { user: { name: "ann" } }, two: { user: { name: "bob" } } };
const MIXED = { good: {}, bad: { conflict: true } };
const TARGETS = [
  "ucastALL", "ucastMinimal", "ucastLinq", "ucastPrisma", "postgresql", "mysql", "sqlserver", "sqlite",
];
const FILTERS = [
  ["same_colour", { colour: "red" }],
  ["same_colour", { colour: "it's \\ \"%_" }],
  ["same_colour", { colour: null }],
  ["same_colour", { colour: 7 }],
  ["same_colour", { colour: true }],
  ["same_colour", { colour: ["red"] }],
  ["same_colour", {}],
  ["same_colour", undefined],
  ["other_colour", { colour: "red" }],
  ["cheaper", { price: 3 }],
  ["at_most", { price: 2.5 }],
  ["dearer", { price: -1 }],
  ["at_least", { price: 1e3 }],
  ["one_of", { colours: ["red", "green"] }],
  ["one_of", { colours: ["red"] }],
  ["one_of", { colours: [] }],
  ["one_of", { colours: {} }],
  ["one_of", { colours: null }],
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
  ["never", { colours: [] }],
  ["always", { colours: [] }],
  ["always", {}],
  ["for_admin", { user: "admin" }],
  ["for_admin", { user: "guest" }],
  ["for_admin", { user: "nobody" }],
  ["untranslatable", {}],
  ["helped", { colour: "red" }],
  ["masked", { colours: ["red"], user: "admin" }],
  ["masked", { colours: ["red"], user: "guest" }],
  ["masked", { colours: [], user: "guest" }],
  ["no_such_rule", {}],
];
const SEVERAL = [
  ["same_colour", { colour: "red" }],
  ["one_of", { colours: ["red"] }],
  ["one_of", { colours: [] }],
  ["none_of", { colours: [] }],
  ["begins", { text: "app" }],
  ["both", { colours: [], price: 3 }],
  ["never", { colours: [] }],
  ["always", { colours: [] }],
  ["untranslatable", {}],
  ["masked", { colours: ["red"], user: "guest" }],
  ["masked", { colours: [], user: "guest" }],
  ["no_such_rule", {}],
];

await run([...evaluations(), ...batches(), ...guards(), ...calls(), ...filters(), ...several()]);
await database.close();

function evaluations() {
  class Asked {
    toInput() {
      return { user: { name: "converted" } };
    }
  }
  const fromResult = (result) => `${JSON.stringify(result)}, converted`;
  const cases = [];
  for (const path of VALUES) {
    cases.push([`evaluate/${path}`, () => client.evaluate(`values/${path}`)]);
    cases.push([`evaluate-with-input/${path}`, () => client.evaluate(`values/${path}`, {})]);
  }
  for (const input of ECHOES) {
    cases.push([`echo/${JSON.stringify(input)}`, () => client.evaluate("values/echo", input)]);
  }
  return cases.concat([
    ["evaluate/conflict", () => client.evaluate("values/conflict", { conflict: true })],
    ["evaluate/leading-slash", () => client.evaluate("/values/truth")],
    ["evaluate/trailing-slash", () => client.evaluate("values/truth/")],
    ["evaluate/package", () => client.evaluate("values/deep")],
    ["evaluate/data", () => client.evaluate("roles/ann/0")],
    ["evaluate/system", () => client.evaluate("system/main", { echo: 1 })],
    ["evaluate/to-input", () => client.evaluate("values/user", new Asked())],
    ["evaluate/from-result", () => client.evaluate("values/list", {}, { fromResult })],
    ["evaluate/from-nothing", () => client.evaluate("values/absent", {}, { fromResult })],
    ["default", () => client.evaluateDefault()],
    ["default/input", () => client.evaluateDefault({ echo: [1, null] })],
    ["default/to-input", () => client.evaluateDefault(new Asked())],
    ["default/from-result", () => client.evaluateDefault({}, { fromResult })],
    ["default/undefined", () => client.evaluateDefault({ silent: true })],
  ]);
}

function batches() {
  const batch = (path, inputs, options) => async () => {
    const answers = await new OPAClient(url).evaluateBatch(path, inputs, options);
    return Object.fromEntries(
      Object.entries(answers).map(([name, answer]) => [
        name,
        // Of an error the text and the id of the decision are left out.
        answer?.code ? { ...failure(Object.assign(new Error(), answer)), http: answer.httpStatusCode } : answer,
      ]),
    );
  };
  return [
    ["batch/without-fallback", batch("values/user", BATCH)],
    ["batch/with-fallback", batch("values/user", BATCH, { fallback: true })],
    ["batch/undefined", batch("values/absent", BATCH, { fallback: true })],
    ["batch/empty", batch("values/user", {}, { fallback: true })],
    ["batch/mixed", batch("values/conflict", MIXED, { fallback: true })],
    ["batch/reject-mixed", batch("values/conflict", MIXED, { fallback: true, rejectMixed: true })],
    ["batch/all-fail", batch("values/conflict", { bad: { conflict: true } }, { fallback: true })],
    [
      "batch/again",
      async () => {
        const client = new OPAClient(url);
        await client.evaluateBatch("values/user", BATCH, { fallback: true });
        return client.evaluateBatch("values/user", BATCH, { fallback: true });
      },
    ],
  ];
}

function guards() {
  const as = (headers) => new OPAClient(url, { headers });
  const bearer = (bearerAuth) => new OPAClient(url, { sdk: { bearerAuth } });
  return [
    ["token/none", () => client.evaluate("guarded/by_token")],
    ["token/right", () => bearer("letmein").evaluate("guarded/by_token")],
    ["token/wrong", () => bearer("wrong").evaluate("guarded/by_token", {})],
    ["token/as-header", () => as({ Authorization: "Bearer letmein" }).evaluate("guarded/by_token")],
    ["token/computed", () => bearer(async () => "letmein").evaluate("guarded/by_token")],
    ["header/none", () => client.evaluate("guarded/by_header")],
    ["header/right", () => as({ "x-team": "blue" }).evaluate("guarded/by_header")],
    ["header/wrong", () => as({ "x-team": "red" }).evaluate("guarded/by_header", {})],
    ["header/filters", () => as({ "x-team": "blue" }).getFilters("filters/always", { colours: 1 }, { target: "sqlite" })],
  ];
}

// The client below, with the parameters of the requests.
function calls() {
  const get = (path, parameters) => async () => told(await api.executePolicy({ path: `values/${path}`, ...parameters }));
  const post = (path, input, parameters) => async () =>
    told(await api.executePolicyWithInput({ path: `values/${path}`, requestBody: { input }, ...parameters }));
  const both = (name, path, parameters) => [
    [`get/${name}`, get(path, parameters)],
    [`post/${name}`, post(path, {}, parameters)],
  ];
  return [
    ["health", async () => (await api.health()).healthyServer],
    ["health/bundles-and-plugins", async () => (await api.health(true, true)).healthyServer],
    ...both("metrics", "truth", { metrics: true }),
    ...both("provenance", "truth", { provenance: true }),
    ...both("pretty", "list", { pretty: true }),
    ...both("explain-notes", "truth", { explain: "notes" }),
    ...both("explain-full", "truth", { explain: "full" }),
    ...both("gzip", "text", { acceptEncoding: "gzip" }),
    ...both("lenient", "always_broken", {}),
    ...both("strict", "always_broken", { strictBuiltinErrors: true }),
  ];
}

// An answer without what is never the same twice, of which the names have to do.
function told({ successfulPolicyResponse: answer }) {
  return {
    result: answer.result,
    metrics: answer.metrics && Object.keys(answer.metrics).filter((name) => name === "timer_server_handler_ns"),
    provenance: answer.provenance && typeof answer.provenance.version,
  };
}

function filters() {
  const cases = [];
  for (const [rule, input] of FILTERS) {
    for (const target of TARGETS) {
      const name = `filter/${rule}/${JSON.stringify(input) ?? "no input"}/${target}`;
      const options = target === "ucastPrisma" ? "fruits" : { target };
      cases.push([name, async () => judged(target, await client.getFilters(`filters/${rule}`, input, options))]);
    }
  }
  const red = { colours: ["red"], user: "guest" };
  const named = (options) => async () => judged(options.target, await client.getFilters("filters/one_of", red, options));
  const tables = { tableMappings: { fruits: { $self: "owners", colour: "name" } } };
  return cases.concat([
    ["filter/unknowns/none", named({ target: "ucastALL", unknowns: ["input.nothing"] })],
    ["filter/unknowns/other", named({ target: "ucastALL", unknowns: ["input.fruits.colour"] })],
    ["filter/unknowns/malformed", named({ target: "ucastALL", unknowns: ["input."] })],
    ["filter/mapped/ucast", named({ target: "ucastALL", ...tables })],
    ["filter/mapped/sqlite", named({ target: "sqlite", ...tables })],
    ["filter/mapped/postgresql", named({ target: "postgresql", ...tables })],
    ["filter/mask-rule", named({ target: "ucastALL", compileOptions: { maskRule: "data.filters.hidden" } })],
    ["filter/mask-rule/relative", named({ target: "sqlite", compileOptions: { maskRule: "hidden" } })],
    ["filter/mask-rule/prisma", async () => {
      const filter = await client.getFilters("filters/masked", red, "fruits");
      return filter.mask({ id: 1, name: "apple", price: 2, colour: "red" });
    }],
    ["filter/inlining-disabled", named({ target: "ucastALL", compileOptions: { disableInlining: ["data.filters.one_of"] } })],
    ["filter/no-target", named({})],
    ["filter/unknown-target", named({ target: "oracle" })],
    ["filter/multi-is-none", named({ target: "multi" })],
  ]);
}

function several() {
  const named = (rule, input, targets, options) => [
    `filters/${rule}/${JSON.stringify(input)}/${targets}`,
    async () => {
      const all = await client.getMultipleFilters(`filters/${rule}`, input, { targets, ...options });
      const entries = Object.entries(all).map(async ([key, filter]) => [
        key,
        await judged(key === "ucast" ? "ucastALL" : key, filter),
      ]);
      return Object.fromEntries(await Promise.all(entries));
    },
  ];
  const sql = ["postgresql", "mysql", "sqlserver", "sqlite"];
  const cases = [];
  for (const [rule, input] of SEVERAL) cases.push(named(rule, input, ["ucastALL", ...sql]));
  const red = { colours: ["red"], user: "guest" };
  const tables = { tableMappings: { sqlite: { fruits: { colour: "name" } } } };
  return cases.concat([
    named("masked", red, ["ucastPrisma", "sqlite"]),
    named("masked", red, ["ucastMinimal", "sqlite"]),
    named("one_of", red, ["ucastLinq"]),
    named("one_of", red, ["sqlite", "postgresql"], tables),
    named("one_of", red, []),
  ]);
}

// SQL is judged by the rows that it selects where there is a database for it, and else by whether
// it is a condition at all: texts may differ.
async function judged(target, filter) {
  const { query, masks } = filter;
  if (target.startsWith("ucast") || typeof query !== "string") return { query, masks };
  const select = database[target];
  if (!select) return { query: query === "" ? query : "a condition", masks };
  const rows = await select(query).catch(() => "refused by the database");
  return { rows, masks };
}
