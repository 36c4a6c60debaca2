import { randomBytes } from "node:crypto";

/** A new id of a request, for the log and for who reports an error. */
export const newRequestId = (): string => `req_${randomBytes(9).toString("base64url")}`;

const ACCEPTED = /^[\w.:~-]{1,128}$/;

/** The caller's own request id where it is one that can be logged, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && ACCEPTED.test(header) ? header : newRequestId();
}
