/** The part of the configuration for applications that connect by signing in (OAuth). */
import { z } from "zod";
import { Duration } from "./field-values.ts";

/** The scheme and host of a program that shows pages, such as `tauri://localhost` or `app://-`. Browsers send them as they are written there. */
const PROGRAM_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::[0-9]{1,5})?$/i;
/** Schemes that are no origin of a page: those of files are `null`, and the others are for connections. */
const NO_ORIGINS: ReadonlySet<string> = new Set(["file:", "ftp:", "ws:", "wss:"]);

const FORM = "must be an origin such as https://inspector.example.com or chrome-extension://…";

/**
 * Why a text is no serialized origin (RFC 6454, section 6.2); undefined if it is one. Browsers send origins in this form, and they are
 * compared exactly.
 */
function originIssue(text: string): string | undefined {
  if (text === "null")
    return `${FORM}: "null" is every page without an origin, also those of strangers (files, sandboxed frames)`;
  if (text.includes("*"))
    return `${FORM}, without a wildcard: list each origin, because a pattern would admit pages of others`;
  const url = URL.parse(text);
  if (url === null || NO_ORIGINS.has(url.protocol)) return FORM;
  if (url.protocol === "http:" || url.protocol === "https:")
    return url.origin === text
      ? undefined
      : `${FORM}, without a path, in lower case and without the default port: ${url.origin}`;
  const [exact] = /^[^:]+:\/\/[^/?#]*/.exec(text) ?? [];
  const origin = exact?.replace(/^[^:]+/, (scheme) => scheme.toLowerCase());
  if (origin === undefined || !PROGRAM_ORIGIN.test(origin)) return FORM;
  return origin === text ? undefined : `${FORM}, without a path, the scheme in lower case: ${origin}`;
}

/** An origin that the configuration can allow. */
export const Origin = z
  .string()
  .max(300)
  .check((ctx) => {
    const message = originIssue(ctx.value);
    if (message !== undefined)
      ctx.issues.push({ code: "custom", input: ctx.value, message, params: { code: "wrong_format" } });
  });

export const OauthConfig = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      description:
        "Whether MCP clients can connect by signing in, instead of with an API key. Needs https, except on the same machine.",
    }),
    registration: z.boolean().default(true).meta({
      description:
        "Whether clients can register themselves. Without it, only those connect that publish a description of themselves at a URL.",
    }),
    origins: z.array(Origin).max(100).default([]).meta({
      description:
        "Origins of web pages that may call MCP with a token, also those of browser extensions and desktop programs. Pages on this machine and on the host names of Millrace may in any case.",
    }),
    access: Duration.default("1h").meta({ description: "Lifetime of an access token." }),
    idle: Duration.default("30d").meta({
      description: "How long an application may be unused until a person has to connect it again.",
    }),
    longest: Duration.default("180d").meta({
      description: "After this time a person has to connect an application again in any case.",
    }),
  })
  .meta({ description: "Applications that connect by signing in (OAuth)." });
