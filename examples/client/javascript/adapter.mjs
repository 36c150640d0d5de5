// The adapter of `@open-policy-agent/opa` and of `@styra/opa`, which it came from: the package is
// the argument.

import { readFileSync } from "node:fs";
import { Unsupported, joined, serve, value } from "./lines.mjs";

const [, , name] = process.argv;
const { OPAClient } = await import(name);
const { OpaApiClient } = await import(`${name}/sdk/sdk`);
const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));

const TARGETS = {
  "sql.postgresql": "postgresql",
  "sql.mysql": "mysql",
  "sql.sqlserver": "sqlserver",
  "sql.sqlite": "sqlite",
  "ucast.all": "ucastALL",
  "ucast.minimal": "ucastMinimal",
  "ucast.linq": "ucastLinq",
  "ucast.prisma": "ucastPrisma",
};
const OPTIONS = {
  provenance: "provenance",
  metrics: "metrics",
  instrument: "instrument",
  explain: "explain",
  strict_builtin_errors: "strictBuiltinErrors",
};

let client;
// What the client itself is built on; it has the options of a request, and asks for the health.
let api;

function target(asked) {
  const known = TARGETS[asked.replace("+", ".")];
  if (!known) throw new Unsupported();
  return known;
}

const operations = {
  open({ api: which, url, token, timeout }) {
    if (which !== "engine") throw new Unsupported();
    const sdk = { ...(timeout && { timeoutMs: timeout * 1000 }), ...(token && { bearerAuth: token }) };
    client = new OPAClient(url, { sdk });
    api = new OpaApiClient({ serverURL: url, ...sdk });
    return { value: { name, version: dependencies[name] } };
  },
  async decide({ path, input, options }) {
    if (options === undefined) return value(await client.evaluate(joined(path), input));
    const request = { path: joined(path) };
    for (const option in options) {
      if (!OPTIONS[option]) throw new Unsupported();
      request[OPTIONS[option]] = options[option];
    }
    const { successfulPolicyResponse: response } =
      input === undefined
        ? await api.executePolicy(request)
        : await api.executePolicyWithInput({ ...request, requestBody: { input } });
    const { result, decisionId, ...details } = response;
    return { ...value(result), details: { ...details, ...(decisionId && { decision_id: decisionId }) } };
  },
  async decide_many({ path, inputs }) {
    const results = await client.evaluateBatch(joined(path), inputs, { fallback: true });
    // An error stands among the results as an object that says its code and status.
    const isError = (result) => result?.code !== undefined && result?.httpStatusCode !== undefined;
    const answer = (result) => (isError(result) ? { error: { kind: result.code, message: result.message } } : value(result));
    return { value: Object.fromEntries(Object.entries(results).map(([name, result]) => [name, answer(result)])) };
  },
  decide_default: async ({ input }) => value(await client.evaluateDefault(input)),
  async filter({ path, input, unknowns, target: asked, mappings }) {
    // For Prisma the client makes a query of its own of the filter.
    if (asked === "ucast.prisma") throw new Unsupported();
    // The mappings of the one target that is asked for are what the client takes.
    const [, dialect] = asked.split(".");
    if (mappings && Object.keys(mappings).some((name) => name !== dialect)) throw new Unsupported();
    const tableMappings = mappings?.[dialect];
    const { query } = await client.getFilters(joined(path), input, { target: target(asked), unknowns, tableMappings });
    return value(query);
  },
  async filter_many({ path, input, unknowns, targets }) {
    const found = await client.getMultipleFilters(joined(path), input, { targets: targets.map(target), unknowns });
    return { value: Object.fromEntries(Object.entries(found).map(([name, { query }]) => [name, query])) };
  },
  async health({ bundles, plugins, exclude }) {
    await api.health(bundles, plugins, exclude);
    return { value: true };
  },
};

await serve(operations, {
  open: ["api", "url", "token", "timeout"],
  decide: ["path", "input", "options"],
  decide_many: ["path", "inputs"],
  decide_default: ["input"],
  filter: ["path", "input", "unknowns", "target", "mappings"],
  filter_many: ["path", "input", "unknowns", "targets"],
  health: ["bundles", "plugins", "exclude"],
});
