/** The interactive API reference at /apidoc. It needs no key and loads nothing from other hosts. */
import { Router } from "express";
import helmet from "helmet";
import { lazy } from "../../core/lazy.ts";
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

/** Generates the documents with the first request, so that the server starts faster. */
export function apidoc(
  catalogue: readonly AnyTool[],
  version: string,
  stepTypes: readonly AnyStepType[],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = lazy(async () => {
    const [{ openApiDocument }, { definitionJsonSchema }, { default: swagger }, yaml] = await Promise.all([
      import("./openapi.ts"),
      import("../../engine/definition/definition-schema.ts"),
      import("swagger-ui-express"),
      import("yaml"),
    ]);
    const document = openApiDocument(catalogue, version);
    return {
      json: JSON.stringify(document, null, 2),
      yaml: yaml.stringify(document, { aliasDuplicateObjects: false }),
      workflowSchema: JSON.stringify(definitionJsonSchema(stepTypes), null, 2),
      files: swagger.serveFiles(document, swaggerOptions),
      page: swagger.setup(document, swaggerOptions),
    };
  });

  router.use(helmet({ contentSecurityPolicy: CSP, strictTransportSecurity: false }));
  router.get("/openapi.json", async (_req, res) => {
    res
      .type("application/json")
      .set("Cache-Control", "no-cache")
      .send((await documents()).json);
  });
  router.get("/openapi.yaml", async (_req, res) => {
    res
      .type("application/yaml")
      .set("Cache-Control", "no-cache")
      .send((await documents()).yaml);
  });
  router.get("/workflow.schema.json", async (_req, res) => {
    res
      .type("application/schema+json")
      .set("Cache-Control", "no-cache")
      .send((await documents()).workflowSchema);
  });
  router.get("/", async (req, res, next) => {
    // The page loads its files by relative paths, so its own path must end in a slash.
    if (req.originalUrl.startsWith(`${req.baseUrl}/`)) (await documents()).page(req, res, next);
    else res.redirect(301, `${req.baseUrl}/`);
  });
  router.get([...FILES], async (req, res, next) => {
    const [init, assets] = (await documents()).files;
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
