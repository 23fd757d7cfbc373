// Asking the server: one function for every verb, and one kind of error, which says what would be right.

export const KEY = "scrubjay.key"; // half of the session; the other half is a cookie that no script can read
const RETRY_MS = 1500;
const WRITES = ["add", "update", "forget", "done", "undone", "link", "unlink"]; // what a list on the screen may not have yet
const UNREACHABLE = [502, 503, 504]; // what a proxy answers when the server is gone

/** What went wrong, in the server's words. `kind` is the last word of its type, or `away`. */
export class Problem extends Error {
  constructor(kind, detail, status = 0, title = "") {
    super(detail);
    this.kind = kind;
    this.detail = detail;
    this.status = status;
    this.title = title;
  }
}

/** Tells `away`, `back`, `signed-out` and `written` to whoever listens. */
export const server = new EventTarget();
let away = false;

/**
 * Call a verb: `await ask("search", {query})`. Throws a Problem; a call that was aborted throws an AbortError.
 * @param {string} verb
 * @param {object} [given]
 * @param {{signal?: AbortSignal}} [options]
 */
export async function call(verb, given = {}, { signal } = {}) {
  const answer = await send("POST", `/v1/${verb}`, given, signal);
  if (WRITES.includes(verb)) server.dispatchEvent(new Event("written"));
  return answer;
}

/** Ask any other path. */
export async function send(method, path, body, signal) {
  const key = localStorage.getItem(KEY) ?? "";
  const { status, ok, text } = await request(method, path, key, body, signal);
  if (ok) return text ? parseBody(text, status) : null;
  const problem = parseProblem(text, status);
  if (problem.kind !== "no-token" || path === "/session") throw problem;
  const now = localStorage.getItem(KEY) ?? "";
  if (now && now !== key) return send(method, path, body, signal); // another tab has signed in meanwhile
  storeKey(null);
  server.dispatchEvent(new CustomEvent("signed-out", { detail: problem }));
  throw problem;
}

/** Keep the half of a session that the page holds; without one, forget it. */
export function storeKey(key) {
  if (key) localStorage.setItem(KEY, key);
  else localStorage.removeItem(KEY);
}

/** Say that the server does not answer, and look for it until it does. */
export function reportAway() {
  if (away) return;
  away = true;
  server.dispatchEvent(new Event("away"));
  setTimeout(pollServer, RETRY_MS);
}

async function request(method, path, key, body, signal) {
  const headers = { "X-Scrubjay-Page": key };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
    const { status, ok } = answer;
    return { status, ok, text: await answer.text() };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reportAway();
    throw new Problem("away", "The server does not answer.");
  }
}

function parseBody(text, status) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("failed", "The answer cannot be read: something else than scrubjay may have sent it.", status);
  }
}

function parseProblem(text, status) {
  try {
    const body = JSON.parse(text);
    return new Problem(body.type.split(":").at(-1), body.detail, status, body.title);
  } catch {
    if (!UNREACHABLE.includes(status)) return new Problem("failed", `The answer cannot be read (${status}).`, status);
    reportAway();
    return new Problem("away", "The server does not answer.", status);
  }
}

async function pollServer() {
  const found = await fetch("/livez").catch(() => null);
  if (!found?.ok) {
    setTimeout(pollServer, RETRY_MS);
    return;
  }
  away = false;
  server.dispatchEvent(new Event("back"));
}
