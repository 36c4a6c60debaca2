/** The interactive API reference at /apidoc. It needs no key and loads nothing from other hosts. */
import { Router } from "express";
import helmet from "helmet";
import { lazy } from "../../core/lazy.ts";
import { nextTurn } from "../../core/next-turn.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { AnyTool } from "../../core/tool.ts";
import { rejectOtherMethods } from "./methods.ts";

/** Allows what Swagger UI uses: inline styles and script files (see docs/security.md). */
const CSP = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    fontSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  },
};

/** The files that the page loads. Swagger UI has more, such as a demonstration page, which are not served. */
const FILES = [
  "/swagger-ui.css",
  "/swagger-ui-bundle.js",
  "/swagger-ui-standalone-preset.js",
  "/swagger-ui-init.js",
  "/favicon-32x32.png",
  "/favicon-16x16.png",
] as const;

/**
 * Generates each document with the first request for it, so that the server starts faster. Every step is a turn of the
 * event loop of its own, because it takes long.
 */
export function apidoc(
  catalogue: readonly AnyTool[],
  version: string,
  stepTypes: readonly AnyStepType[],
  pathPrefix: string,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const openApi = lazy(async () => {
    const { openApiDocument } = await import("./openapi.ts");
    await nextTurn();
    const document = openApiDocument(catalogue, version, pathPrefix);
    await nextTurn();
    return document;
  });
  const json = lazy(async () => JSON.stringify(await openApi(), null, 2));
  const yaml = lazy(async () => {
    const [document, { stringify }] = [await openApi(), await import("yaml")];
    const sections: string[] = [];
    for (const [name, section] of Object.entries(document)) {
      await nextTurn();
      sections.push(stringify({ [name]: section }, { aliasDuplicateObjects: false }));
    }
    return sections.join("");
  });
  const workflowSchema = lazy(async () => {
    const { definitionJsonSchema } = await import("../../engine/definition/definition-schema.ts");
    await nextTurn();
    return JSON.stringify(definitionJsonSchema(stepTypes), null, 2);
  });
  const swagger = lazy(async () => {
    const [document, { default: ui }] = [await openApi(), await import("swagger-ui-express")];
    return { files: ui.serveFiles(document, swaggerOptions), page: ui.setup(document, swaggerOptions) };
  });

  router.use(helmet({ contentSecurityPolicy: CSP, strictTransportSecurity: false }));
  router.get("/openapi.json", async (_req, res) => {
    res
      .type("application/json")
      .set("Cache-Control", "no-cache")
      .send(await json());
  });
  router.get("/openapi.yaml", async (_req, res) => {
    res
      .type("application/yaml")
      .set("Cache-Control", "no-cache")
      .send(await yaml());
  });
  router.get("/workflow.schema.json", async (_req, res) => {
    res
      .type("application/schema+json")
      .set("Cache-Control", "no-cache")
      .send(await workflowSchema());
  });
  router.get("/", async (req, res, next) => {
    // The page loads its files by relative paths, so its own path must end in a slash.
    if (req.originalUrl.startsWith(`${req.baseUrl}/`)) (await swagger()).page(req, res, next);
    else res.redirect(301, `${req.baseUrl}/`);
  });
  router.get([...FILES], async (req, res, next) => {
    const [init, assets] = (await swagger()).files;
    init!(req, res, (error?: unknown) => (error === undefined ? assets!(req, res, next) : next(error)));
  });
  router.all(
    ["/", "/openapi.json", "/openapi.yaml", "/workflow.schema.json", ...FILES],
    rejectOtherMethods(["GET"]),
  );
  return router;
}

const swaggerOptions = {
  customSiteTitle: "Millrace API",
  customCss: ".swagger-ui .topbar { display: none }",
  swaggerOptions: {
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  },
};
