// What every adapter does: a line is read, a line is written.

import { createInterface } from "node:readline";

/** What a client cannot do, or not with one of these members. */
export class Unsupported extends Error {}

/** The answer where a client that says `undefined` for "no value" gave this. */
export const value = (given) => (given === undefined ? { undefined: true } : { value: given });

/** The segments as one text, for clients that take one. */
export function joined(path) {
  if (path.some((segment) => segment.includes("/"))) throw new Unsupported();
  return path.join("/");
}

/** An error as the client raised it, with its status where it tells one. */
export function failure(error) {
  const status = error?.httpMeta?.response?.status ?? error?.statusCode;
  const kind = error?.constructor?.name ?? typeof error;
  return { error: { kind, ...(status && { status }), message: String(error?.message ?? error) } };
}

/** Answers each line by the function that has its name, with the members that it knows. */
export async function serve(operations, members) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: name, ...ask } = JSON.parse(line);
    let told = { unsupported: true };
    const known = Object.hasOwn(operations, name) && Object.keys(ask).every((key) => members[name].includes(key));
    if (known) {
      try {
        told = await operations[name](ask);
      } catch (error) {
        told = error instanceof Unsupported ? { unsupported: true } : failure(error);
      }
    }
    // A promise of the client's that is rejected and that nobody can catch ends the program, as it
    // does its user's: before the answer, so that it is seen where it happened.
    await new Promise(setImmediate);
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}
