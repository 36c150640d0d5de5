// Runs the cases of a client and prints one line of JSON for each: its name, and its result, or
// of its error the class and, where it has them, status and code.

export async function run(cases) {
  for (const [name, act] of cases) {
    const line = { case: name };
    try {
      line.result = shown(await act());
    } catch (error) {
      line.error = failure(error);
    }
    console.log(JSON.stringify(line));
  }
}

// What of an error callers look at. Texts are for people, and differ.
export function failure(error) {
  if (!(error instanceof Error)) return { thrown: String(error) };
  return {
    class: error.name === "Error" ? error.constructor.name : error.name,
    status: error.httpMeta?.response.status,
    code: error.code,
    errors: error.errors?.map((one) => ({ code: one.code, row: one.location?.row })),
  };
}

// JSON has no undefined, and the order of members is the same to callers.
function shown(value) {
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return value.map(shown);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(members.sort().map(([name, one]) => [name, shown(one)]));
}
