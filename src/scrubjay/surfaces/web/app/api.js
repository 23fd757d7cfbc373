// Requests to the server: one function for every verb, and one error class with the server's message.

export const KEY = "scrubjay.key"; // half of the login; the other half is a cookie that no script can read
const RETRY_MS = 1500;
const WRITES = ["add", "update", "undo", "forget", "done", "undone", "link", "unlink"]; // after these, results on the screen may be out of date
const UNREACHABLE = [502, 503, 504]; // a proxy's answers while the server is unavailable

/** An error with the server's message. `kind` is the last word of its type, or `away` when the server does not answer. */
export class Problem extends Error {
  constructor(kind, detail, status = 0, title = "") {
    super(detail);
    this.kind = kind;
    this.detail = detail;
    this.status = status;
    this.title = title;
  }
}

/** Events about the server: `away`, `back`, `signed-out` and `written`. */
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

/** Send a request to any other path. */
export async function send(method, path, body, signal) {
  const key = localStorage.getItem(KEY) ?? "";
  const { status, ok, text } = await request(method, path, key, body, signal);
  if (ok) return text ? parseBody(text, status) : null;
  const problem = parseProblem(text, status);
  if (problem.kind !== "no-token" || path === "/session") throw problem;
  const now = localStorage.getItem(KEY) ?? "";
  if (now && now !== key) return send(method, path, body, signal); // another tab has signed in since
  storeKey(null);
  server.dispatchEvent(new CustomEvent("signed-out", { detail: problem }));
  throw problem;
}

/** Store the script's half of the login; without a key, delete it. */
export function storeKey(key) {
  if (key) localStorage.setItem(KEY, key);
  else localStorage.removeItem(KEY);
}

/** Send the event `away`, and poll the server until it answers. */
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
    throw new Problem("failed", "The response is not valid JSON: it may not come from scrubjay.", status);
  }
}

function parseProblem(text, status) {
  try {
    const body = JSON.parse(text);
    return new Problem(body.type.split(":").at(-1), body.detail, status, body.title);
  } catch {
    if (!UNREACHABLE.includes(status))
      return new Problem("failed", `The response is not a scrubjay error (HTTP ${status}).`, status);
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
