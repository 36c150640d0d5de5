// An adapter for `conformance shim`: policies are compiled to WebAssembly by `opa build`, and
// evaluated by the npm package @open-policy-agent/opa-wasm.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import wasm from "@open-policy-agent/opa-wasm";

const opa = process.env.OPA ?? "opa";
// The rule by which the document at a path is asked for, as an entrypoint has to be a rule.
const ENTRYPOINT = "conformance_adapter/found";
// Compiled policies that are kept: compiling takes longer than all else.
const KEPT = 64;
const compiled = new Map();

class Invalid extends Error {}

// What a program prints, which has to end well.
function run(program, ...words) {
  return execFileSync(program, words, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

// The policies and a rule for the document at a path, as a module of WebAssembly.
function build(modules, path) {
  const folder = mkdtempSync(join(tmpdir(), "adapter-"));
  try {
    const reference = path.map((step) => `[${JSON.stringify(step)}]`).join("");
    const rule = `package conformance_adapter\n\nfound := data${reference}\n`;
    const files = [...Object.values(modules), rule].map((text, number) => {
      const file = join(folder, `${number}.rego`);
      writeFileSync(file, text);
      return file;
    });
    const bundle = join(folder, "bundle.tar.gz");
    try {
      run(opa, "build", "-t", "wasm", "-e", ENTRYPOINT, "-o", bundle, ...files);
    } catch (error) {
      // Without an exit code it did not run at all.
      throw error.status ? new Invalid(`${error.stdout}${error.stderr}`.trim()) : error;
    }
    return run("tar", "-xzOf", bundle, "/policy.wasm");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function policy(modules, path) {
  const key = JSON.stringify([modules, path]);
  if (!compiled.has(key)) {
    if (compiled.size >= KEPT) compiled.delete(compiled.keys().next().value);
    compiled.set(key, await wasm.loadPolicy(build(modules, path)));
  }
  return compiled.get(key);
}

async function decide({ modules, data, path, input }) {
  if (path.length === 0) return { error: { message: "the root cannot be asked for" } };
  const loaded = await policy(modules, path);
  loaded.setData(data);
  const [answer] = loaded.evaluate(input);
  return answer === undefined ? {} : { result: answer.result };
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await decide(JSON.parse(line));
  } catch (error) {
    const code = error instanceof Invalid ? "invalid_parameter" : "internal_error";
    answer = { error: { code, message: String(error.message ?? error) } };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
