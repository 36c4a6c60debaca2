import { randomBytes } from "node:crypto";

const ID_BYTES = 9;
let pool = Buffer.alloc(0);

/** A new id of a request, for the log and for who reports an error. */
export const newRequestId = (): string => newId("req");

/** A new id of a run. */
export const newRunId = (): string => newId("run");

/** A new id of a user. */
export const newUserId = (): string => newId("usr");

/** A new id of a session; no secret, unlike its token. */
export const newSessionId = (): string => newId("ses");

/** A new id of an executor; the host's name is for who reads the log. */
export const newExecutorId = (host: string): string => `${newId("exe")}@${host.slice(0, 50)}`;

/** A new id: 72 random bits behind a word that says what of. */
function newId(prefix: string): string {
  // For many at once: asking the system each time costs more than the rest of an id.
  if (pool.byteLength === 0) pool = randomBytes(ID_BYTES * 128);
  const id = pool.toString("base64url", 0, ID_BYTES);
  pool = pool.subarray(ID_BYTES);
  return `${prefix}_${id}`;
}

const ACCEPTED = /^[\w.:~-]{1,128}$/;

/** The caller's own request id where it is one that can be logged, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && ACCEPTED.test(header) ? header : newRequestId();
}
