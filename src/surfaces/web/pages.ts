/** The web interface's own files, under /ui: one page with a policy of its own, and assets that never change. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import sirv from "sirv";
import { onlyMethods } from "../rest/methods.ts";

const NONCE = "__CSP_NONCE__";

/** Scripts are files of ours; styles too, but for those that carry this page's nonce (CSP level 3). */
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

/** @param directory where `npm run build:web` has put them */
export function webPages(directory: string): Router {
  const router = Router({ caseSensitive: true });
  const page = pageIn(directory);
  router.use((req, res, next) => {
    if (req.originalUrl === req.baseUrl) return res.redirect(`${req.baseUrl}/`);
    // The rest of the API's headers say that nothing here may run.
    res.removeHeader("Content-Security-Policy");
    next();
  });
  router.use(
    "/assets",
    sirv(join(directory, "assets"), {
      brotli: true,
      gzip: true,
      etag: true,
      immutable: true,
      maxAge: 31_536_000,
    }),
  );
  const files = sirv(directory, { brotli: true, gzip: true, etag: true, maxAge: 3_600 });
  router.use(["/icon.svg", "/color-scheme.js"], (req, res, next) => {
    // Express hands a mounted handler what is left of the path.
    req.url = req.baseUrl.slice(req.baseUrl.lastIndexOf("/"));
    files(req, res, next);
  });
  router
    .route("/{*path}")
    .get((req, res, next) => {
      // A file that is gone must not be answered with a page that a script would choke on.
      if (req.path.startsWith("/assets/")) return next();
      const html = page();
      if (html === undefined) {
        return void res
          .status(503)
          .type("text/plain")
          .send("The web interface is not built here. Run: npm run build:web\n");
      }
      const nonce = randomBytes(16).toString("base64");
      res
        .set({
          "Content-Security-Policy": policy(nonce),
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cache-Control": "no-store",
          "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        })
        .type("html")
        .send(html.replaceAll(NONCE, nonce));
    })
    .all(onlyMethods(["GET"]));
  return router;
}

/** The page as it was built, read once; undefined while it is not there. */
function pageIn(directory: string): () => string | undefined {
  let html: string | undefined;
  return () => {
    try {
      return (html ??= readFileSync(join(directory, "index.html"), "utf8"));
    } catch {
      return undefined;
    }
  };
}
