// Asking the server: one function for every verb, and one kind of error, which says what would be right.

const KEY = "scrubjay.key"; // half of the session; the other half is a cookie that no script can read
const AGAIN_MS = 1500;

/** What went wrong, in the server's words. `kind` is the last word of its type, or `away`. */
export class Problem extends Error {
  constructor(kind, detail, status = 0, title = "") {
    super(detail);
    Object.assign(this, { kind, detail, status, title });
  }
}

/** Tells `away`, `back` and `signed-out` to whoever listens. */
export const server = new EventTarget();
let away = false;

/** Ask a verb: `await ask("search", {query})`. Throws a Problem; an aborted one throws AbortError. */
export function ask(verb, given = {}, { signal } = {}) {
  return send("POST", `/v1/${verb}`, given, signal);
}

/** Ask any other path. */
export async function send(method, path, body, signal) {
  const headers = { "X-Scrubjay-Page": localStorage.getItem(KEY) ?? "" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Problem("away", "The server does not answer.");
  }
  const text = await answer.text();
  if (answer.ok) return text ? JSON.parse(text) : null;
  throw told(problemOf(text, answer));
}

/** Keep the half of a session that the page holds; without one, forget it. */
export function keep(key) {
  if (key) localStorage.setItem(KEY, key);
  else localStorage.removeItem(KEY);
}

function problemOf(text, answer) {
  try {
    const said = JSON.parse(text);
    return new Problem(said.type.split(":").at(-1), said.detail, answer.status, said.title);
  } catch {
    return new Problem("failed", `The answer cannot be read (${answer.status}).`, answer.status);
  }
}

function told(problem) {
  if (problem.kind === "no-token") server.dispatchEvent(new CustomEvent("signed-out", { detail: problem }));
  return problem;
}

function lost() {
  if (away) return;
  away = true;
  server.dispatchEvent(new Event("away"));
  setTimeout(look, AGAIN_MS);
}

async function look() {
  try {
    await fetch("/livez");
  } catch {
    setTimeout(look, AGAIN_MS);
    return;
  }
  away = false;
  server.dispatchEvent(new Event("back"));
}
