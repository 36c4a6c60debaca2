/** The REST API: the operations of the catalogue, the session endpoints, the reference and the web interface. */
import type { RequestListener } from "node:http";
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
  type Router,
} from "express";
import { AppError } from "../../core/errors.ts";
import { requestIdOf } from "../../core/ids.ts";
import { pathOfTarget, withoutPrefix } from "../../core/public-url.ts";
import { type AnyTool, type HttpMethod, parseRoute, isServedOn } from "../../core/tool.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Admission } from "../admission.ts";
import { type BodyMemory, bodyMemory } from "../body-memory.ts";
import { type Lifecycle, logRejectedRequest, sendHealth, sendProblem } from "../http-server.ts";
import { type Call, withTelemetry, prepare, type PreparedCall, type Services } from "../invoke.ts";
import { type AdmitRequest, clientOf, mcpUrlOf, requestAuthenticator } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";
import { mountSession } from "../session/mount.ts";
import type { StreamRegistry } from "../streams.ts";
import { noSuchMetadata } from "../oauth/metadata.ts";
import { agentFiles } from "../web/agent-files.ts";
import { webPages } from "../web/pages.ts";
import { answerCache, type ListCache, type ObjectCache, sendList, sendObject } from "./responses.ts";
import { apidoc } from "./apidoc.ts";
import { fromExpressError, hasBody, readBody } from "./body.ts";
import { slackInteractions } from "../chat/slack.ts";
import { decisionPages } from "../decide/routes.ts";
import { receiveEvent } from "./events.ts";
import { parseQuery } from "./form-fields.ts";
import { answerChecks } from "./handshakes.ts";
import { receiveDelivery } from "./hooks.ts";
import { gatherInput, planInput } from "./input.ts";
import { traceFields } from "./trace-fields.ts";
import { rejectOtherMethods } from "./methods.ts";
import { runEvents } from "./run-events.ts";

export interface RestOptions {
  catalogue: readonly AnyTool[];
  services: Services;
  admission: Admission;
  signIn: SignInServices;
  /** The directory of the built web interface. */
  webDirectory: string;
  /** Registry of open streams; the caller closes them. */
  streams: StreamRegistry;
  lifecycle: Lifecycle;
  version: string;
  checkStorage: () => Promise<string | undefined>;
  /** Addresses of proxies whose X-Forwarded-* headers count. */
  trustedProxies: readonly string[];
}

/** Memory for the bodies of senders without a key, in bytes. */
const STRANGERS_BODY_BYTES = 16 * 1024 * 1024;

/** The first names of the paths that are no operations. A test compares them with what is mounted. */
const OWN_NAMES =
  "ui apidoc openapi.json openapi.yaml health session oauth login logout decide hooks events interactions skills llms.txt millrace.mcpb .well-known".split(
    " ",
  );

/**
 * The path that a prefix can't have, because a proxy that removes it and one that does not would mean different things by it;
 * undefined for none.
 */
export function reservedPrefix(prefix: string, catalogue: readonly AnyTool[]): string | undefined {
  const name = firstNameOf(prefix);
  const names = catalogue.map((tool) => firstNameOf(parseRoute(tool).path));
  return name !== "" && [...names, ...OWN_NAMES].includes(name) ? `/${name}` : undefined;
}

/**
 * The handler of the web server, at the path of its public URL: Express treats the prefix as the path at which the application is
 * mounted (`req.baseUrl`), whether the proxy has removed it or not.
 */
export function restApp(options: RestOptions): RequestListener {
  const app = restRoutes(options);
  const { pathPrefix } = options.signIn;
  return (req, res) => {
    const url = withoutPrefix(pathOfTarget(req.url ?? ""), pathPrefix);
    Object.assign(req, { url, baseUrl: pathPrefix, originalUrl: pathPrefix + url });
    app(req, res);
  };
}

function restRoutes(options: RestOptions): Express {
  const { catalogue, services, version, lifecycle, checkStorage } = options;
  const app = express();
  const bodies = bodyMemory();
  // Its own, so that senders of whom nothing is known yet take none from callers with a key.
  const strangersBodies = bodyMemory(STRANGERS_BODY_BYTES);
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("query parser", parseQuery);
  app.set("trust proxy", options.trustedProxies.length > 0 ? [...options.trustedProxies] : false);

  app.use((req, res, next) => {
    const requestId = requestIdOf(req.headers["x-request-id"]);
    res.locals["requestId"] = requestId;
    res.setHeader("X-Request-Id", requestId);
    for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
    next();
  });
  app
    .route("/health")
    .get((_req, res) => sendHealth(res, lifecycle, version, checkStorage))
    .all(rejectOtherMethods(["GET"]));
  const reference = apidoc(catalogue, version, services.engine.stepTypes, options.signIn.pathPrefix);
  app.use("/apidoc", reference);
  // Where programs try first.
  app.all(["/openapi.json", "/openapi.yaml"], reference);
  app.get("/", (req, res) => res.redirect(`${req.baseUrl}/ui/`));
  app.use("/ui", webPages(options.webDirectory));
  app.use(agentFiles(options.signIn, version));
  mountSession(app, services, options.signIn);
  app
    .route("/events/:token")
    .post(receiveEvent(services, strangersBodies))
    .all(rejectOtherMethods(["POST"]));
  app.route("/hooks/:token").post(receiveDelivery(services, strangersBodies)).all(answerChecks(services));

  app
    .route("/interactions/slack")
    .post(slackInteractions(services, options.signIn, strangersBodies))
    .all(rejectOtherMethods(["POST"]));
  app.use("/decide", decisionPages(services, options.signIn));

  const admit = requestAuthenticator(options.admission, options.signIn);
  app
    .route("/runs/:run_id/events")
    .get(runEvents({ services, admit, streams: options.streams }))
    .all(rejectOtherMethods(["GET"]));
  mountCatalogue(app, options, admit, bodies);

  app.use("/.well-known", (req) => {
    const { oauth } = options.signIn;
    throw noSuchMetadata(
      req.baseUrl + req.path,
      oauth && { issuer: oauth.issuer(), resource: `${mcpUrlOf(options.signIn, req)}/mcp` },
    );
  });
  app.use((req: Request) => {
    throw new AppError(
      "route_not_found",
      `There is nothing at ${req.path.slice(0, 200)}. /apidoc lists all paths.`,
    );
  });
  app.use(errorHandler(options));
  return app;
}

/**
 * Responses are data. A browser that displays one as a page must not load or run anything, embed it, or guess another type.
 * No HSTS: only the proxy that ends TLS knows whether its host will always have https.
 */
const SECURITY_HEADERS = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["X-Content-Type-Options", "nosniff"],
] as const;

/** The first name of a path: `workflows` of `/workflows/:workflow_id`. */
const firstNameOf = (path: string): string => path.split("/", 2)[1] ?? "";

/** Mounts the operations. Those with the same first name have a router of their own, because a router tries its routes in turn. */
function mountCatalogue(
  app: Express,
  { catalogue, services, version }: RestOptions,
  admit: AdmitRequest,
  bodies: BodyMemory,
): void {
  const toolsByPath = Map.groupBy(
    catalogue.filter((tool) => isServedOn(tool, "rest")),
    (tool) => parseRoute(tool).path,
  );
  // Fixed paths before parameters, so that /workflows/validate is not taken for a workflow.
  const paths = [...toolsByPath].toSorted(([a], [b]) => Number(a.includes(":")) - Number(b.includes(":")));
  const routers = new Map<string, Router>();
  app.use((req, res, next) => {
    const router = routers.get(firstNameOf(req.path));
    if (router === undefined) next();
    else void router(req, res, next);
  });
  for (const [path, tools] of paths) {
    const name = firstNameOf(path);
    const router = routers.get(name) ?? express.Router({ caseSensitive: true });
    routers.set(name, router);
    const route = router.route(path);
    for (const tool of tools) {
      const { method } = parseRoute(tool);
      const plan = planInput(tool);
      const send = senderOf(tool, version);
      const handle = async (req: Request, res: Response): Promise<void> => {
        const principal = await admit(req);
        bodies.reserve(req, res, usageSubjectOf(principal));
        const bodyIssues = await readBody(req, res, plan.inBody);
        const { raw, issues } = gatherInput(plan, req);
        const call: Call = {
          actor: { principal, client: clientOf(req, principal) },
          requestId: res.locals["requestId"] as string,
          signal: abortedWith(res),
          status: () => res.statusCode,
          ...traceFields(req, path),
        };
        res.locals["observed"] = true;
        await withTelemetry(services, tool, call, async () => {
          const prepared = prepare(services, tool, raw, call, [...bodyIssues, ...issues]);
          await send(req, res, prepared);
        });
      };
      route[method.toLowerCase() as Lowercase<HttpMethod>](handle);
    }
    route.all(rejectOtherMethods(tools.map((tool) => parseRoute(tool).method)));
  }
}

/** Creates the function that sends the answers of an operation. It keeps those that may be sent again. */
function senderOf(
  tool: AnyTool,
  version: string,
): (req: Request, res: Response, prepared: PreparedCall) => Promise<void> {
  if (tool.page === undefined) {
    const objects: ObjectCache = answerCache();
    return (req, res, prepared) => sendObject(req, res, tool, prepared, objects);
  }
  const lists: ListCache = answerCache();
  return (req, res, prepared) => sendList(req, res, tool, prepared, lists, version);
}

function abortedWith(res: Response): AbortSignal {
  const controller = new AbortController();
  res.once("close", () => {
    // Not after a complete response, because creating the abort reason is slow.
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

function errorHandler({ services }: RestOptions): ErrorRequestHandler {
  return (thrown, req, res, _next) => {
    const error = fromExpressError(thrown);
    const requestId = res.locals["requestId"] as string;
    if (res.locals["observed"] !== true) {
      const { method, path, ip } = req;
      services.meter.requestRejected("rest", error.code);
      logRejectedRequest(services.log, error, { request_id: requestId, method, path, ip });
    }
    if (res.headersSent) {
      // A list that failed half-way is cut off, so that the client does not take it for complete.
      res.destroy();
      return;
    }
    res.removeHeader("ETag");
    // An unread body would be parsed as the next request.
    if (!req.readableEnded && hasBody(req)) res.setHeader("Connection", "close");
    sendProblem(res, error, requestId);
  };
}
