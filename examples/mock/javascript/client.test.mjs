// node --test
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { isAllowed } from "./client.mjs";

const policies = fileURLToPath(new URL("../policies", import.meta.url));
let process_, mock;

async function admin(method, path) {
  const answer = await fetch(`${mock.admin}${path}`, { method });
  assert.ok(answer.ok, await answer.clone().text());
  return answer.status === 204 ? undefined : answer.json();
}

before(async () => {
  const program = process.env.CONFORMANCE ?? "conformance";
  process_ = spawn(program, ["mock", "--exit-on-stdin-close", policies], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: process_.stdout })) {
    mock = JSON.parse(line);
    break;
  }
  assert.ok(mock, "the mock did not start");
});
after(() => process_.kill());
beforeEach(() => admin("POST", "/reset"));

test("a decision is asked for as the document says", async () => {
  assert.equal(await isAllowed(mock.engine, "ann"), true);
  const { requests } = await admin("GET", "/requests");
  assert.equal(requests.length, 1);
  assert.equal(requests[0].path, "/v1/data/authz/allow");
  assert.deepEqual(requests[0].json, { input: { user: "ann" } });
});

test("undefined is no permission", async () => {
  assert.equal(await isAllowed(mock.engine, "bob"), false);
  await admin("PUT", "/faults/undefined");
  assert.equal(await isAllowed(mock.engine, "ann"), false);
});

for (const fault of ["internal-error", "broken-json", "cut-body", "close", "hang"]) {
  test(`${fault} is an error, and no decision`, async () => {
    await admin("PUT", `/faults/${fault}`);
    await assert.rejects(isAllowed(mock.engine, "ann"));
  });
}
