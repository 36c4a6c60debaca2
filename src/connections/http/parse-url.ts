import type { PartialIssue } from "../../core/connections.ts";

/** Parses a URL. @returns the issue of a URL that cannot be called */
export function parseUrl(text: string): URL | PartialIssue {
  const url = URL.parse(text);
  if (url === null)
    return {
      code: "wrong_format",
      message: "is not a URL",
      fix: "Write the complete URL, such as https://api.example.com/orders.",
    };
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return {
      code: "not_allowed",
      message: `must begin with https: or http:, got ${url.protocol.slice(0, 30)}`,
      allowed: ["https:", "http:"],
      fix: "Use an https or http URL.",
    };
  if (url.username !== "" || url.password !== "")
    return {
      code: "holds_secret",
      message: "must not contain a user name or password",
      fix: 'Ask the operator to add a secret, and send it: headers: { Authorization: { secret: name, prefix: "Basic " } }.',
    };
  return url;
}
