/** Serves the web interface under /ui: one page with its own security policy, and immutable assets. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Request, type Response, Router } from "express";
import sirv from "sirv";
import { AppError } from "../../core/errors.ts";
import { rejectOtherMethods } from "../rest/methods.ts";

/** Placeholder for the nonce in the built page. */
const NONCE = "__CSP_NONCE__";
/** The beginning of paths in the built page; a public URL with a path puts that in front. */
const BASE = '"/ui/';
/** Cache lifetimes, in seconds. */
const YEAR_S = 31_536_000;
const HOUR_S = 3_600;

/** Allows scripts and styles from our own files, and inline ones with this page's nonce (CSP level 3). */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** @param directory output of `npm run build:web` */
export function webPages(directory: string): Router {
  const router = Router({ caseSensitive: true });
  router.use((req, res, next) => {
    if (req.originalUrl === req.baseUrl) return res.redirect(`${req.baseUrl}/`);
    // The API's policy allows no scripts at all.
    res.removeHeader("Content-Security-Policy");
    next();
  });
  const index = join(directory, "index.html");
  if (existsSync(index)) serveFiles(router, directory, readFileSync(index, "utf8"));
  else {
    router.use((_req, res) => {
      res
        .status(503)
        .type("text/plain")
        .send("The web interface is not built. Run `npm run build:web`, then start again.\n");
    });
  }
  return router;
}

/** A handler that is made at its first request. */
function onFirstRequest(make: () => ReturnType<typeof sirv>): ReturnType<typeof sirv> {
  let handler: ReturnType<typeof sirv> | undefined;
  return (...request) => {
    handler ??= make();
    handler(...request);
  };
}

function serveFiles(router: Router, directory: string, html: string): void {
  const compressed = { brotli: true, gzip: true, etag: true };
  // Reading the directories takes some milliseconds, which only servers of pages need.
  const assets = onFirstRequest(() =>
    sirv(join(directory, "assets"), { ...compressed, immutable: true, maxAge: YEAR_S }),
  );
  router.use("/assets", assets, (req) => {
    // A missing script must not be answered with the page.
    throw new AppError(
      "route_not_found",
      `There is no file ${req.originalUrl.slice(0, 200)}. Reload the page.`,
    );
  });
  const files = onFirstRequest(() => sirv(directory, { ...compressed, maxAge: HOUR_S }));
  router.get(["/icon.svg", "/color-scheme.js"], (req, res, next) => files(req, res, () => next()));
  router
    .route("/{*path}")
    .get((req: Request, res: Response) => {
      const nonce = randomBytes(16).toString("base64");
      res
        .set({
          "Content-Security-Policy": policy(nonce),
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cache-Control": "no-store",
          "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        })
        .type("html")
        .send(html.replaceAll(NONCE, nonce).replaceAll(BASE, `"${req.baseUrl}/`));
    })
    .all(rejectOtherMethods(["GET"]));
}
