// The client that is tested: asks whether a user may do something.

export async function isAllowed(engine, user) {
  const answer = await fetch(`${engine}/v1/data/authz/allow`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ input: { user } }),
    signal: AbortSignal.timeout(1000),
  });
  if (!answer.ok) throw new Error(`the engine answers ${answer.status}`);
  const { result } = await answer.json();
  // Undefined is no result at all, and no permission.
  return result === true;
}
