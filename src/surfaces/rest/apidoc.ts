/** The interactive reference at /apidoc: no key to read it, nothing from elsewhere, always of the running version. */
import { Router } from "express";
import helmet from "helmet";
import type { AnyTool } from "../../core/tool.ts";

/** As security.md found Swagger UI to need: its styles are inline, its scripts are files. */
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

/** Everything is made at the first visit: a listener that nobody asks for its documents starts without them. */
export function apidoc(catalogue: readonly AnyTool[], version: string): Router {
  const router = Router();
  const made = lazily(async () => {
    const [{ openApiDocument }, { default: swagger }, yaml] = await Promise.all([
      import("./openapi.ts"),
      import("swagger-ui-express"),
      import("yaml"),
    ]);
    const document = openApiDocument(catalogue, version);
    return {
      json: JSON.stringify(document, null, 2),
      yaml: yaml.stringify(document, { aliasDuplicateObjects: false }),
      files: swagger.serveFiles(document, swaggerOptions),
      page: swagger.setup(document, swaggerOptions),
    };
  });

  router.use(helmet({ contentSecurityPolicy: CSP, strictTransportSecurity: false }));
  router.get("/openapi.json", async (_req, res) => {
    res
      .type("application/json")
      .set("Cache-Control", "no-cache")
      .send((await made()).json);
  });
  router.get("/openapi.yaml", async (_req, res) => {
    res
      .type("application/yaml")
      .set("Cache-Control", "no-cache")
      .send((await made()).yaml);
  });
  router.use(async (req, res, next) => {
    const { files, page } = await made();
    const handlers = [...files, page];
    const step =
      (index: number) =>
      (error?: unknown): void => {
        if (error !== undefined || index === handlers.length) next(error);
        else handlers[index]!(req, res, step(index + 1));
      };
    step(0)();
  });
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

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
