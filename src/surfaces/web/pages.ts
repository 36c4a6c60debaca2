/** Serves the web interface under /ui: one page with its own security policy, and immutable assets. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseCookie } from "cookie";
import { type Request, type Response, Router } from "express";
import sirv from "sirv";
import {
  INTERFACE_LANGUAGES,
  type InterfaceLanguage,
  LANGUAGE_COOKIE,
} from "../../../schemas/interface-language.ts";
import { AppError } from "../../core/errors.ts";
import { rejectOtherMethods } from "../rest/methods.ts";

/** Placeholder for the nonce in the built page. */
const NONCE = "__CSP_NONCE__";
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
  const pages = readPages(directory);
  if (pages !== undefined) serveFiles(router, directory, pages);
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

type Pages = Readonly<Record<InterfaceLanguage, string>>;

/** The file to which bin/build-web.js writes the page of a language. */
const pageName = (language: InterfaceLanguage): string =>
  language === INTERFACE_LANGUAGES[0] ? "index.html" : `index.${language}.html`;

/** @returns the page of each language; undefined if one is missing */
function readPages(directory: string): Pages | undefined {
  const files = INTERFACE_LANGUAGES.map((language) => join(directory, pageName(language)));
  if (!files.every((file) => existsSync(file))) return undefined;
  const pages = files.map(
    (file, index) => [INTERFACE_LANGUAGES[index]!, readFileSync(file, "utf8")] as const,
  );
  return Object.fromEntries(pages) as Pages;
}

/** @returns the chosen language, else the one that the browser prefers */
function languageOf(req: Request): InterfaceLanguage {
  const chosen = parseCookie(req.headers.cookie ?? "")[LANGUAGE_COOKIE];
  return (
    INTERFACE_LANGUAGES.find((language) => language === chosen) ??
    INTERFACE_LANGUAGES.find((language) => language === req.acceptsLanguages([...INTERFACE_LANGUAGES])) ??
    INTERFACE_LANGUAGES[0]
  );
}

/** A handler that is made at its first request. */
function onFirstRequest(make: () => ReturnType<typeof sirv>): ReturnType<typeof sirv> {
  let handler: ReturnType<typeof sirv> | undefined;
  return (...request) => {
    handler ??= make();
    handler(...request);
  };
}

function serveFiles(router: Router, directory: string, pages: Pages): void {
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
      const language = languageOf(req);
      res
        .vary("Accept-Language, Cookie")
        .set({
          "Content-Language": language,
          "Content-Security-Policy": policy(nonce),
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cache-Control": "no-store",
          "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        })
        .type("html")
        .send(pages[language].replaceAll(NONCE, nonce));
    })
    .all(rejectOtherMethods(["GET"]));
}
