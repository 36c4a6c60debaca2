/** The authorization server for MCP clients: its routes, and the requests that people decide. */
import type { EventEmitter } from "node:events";
import type { Express, Request, Response } from "express";
import { errors, type KoaContextWithOIDC } from "oidc-provider";
import type { Logger } from "pino";
import { DEFAULT_SCOPES, Scope } from "../../../schemas/actor.ts";
import { randomBase62 } from "../../auth/key-format.ts";
import type { Throttle } from "../../auth/throttle.ts";
import { AppError } from "../../core/errors.ts";
import { answerCrossOrigin, type OriginRules } from "../cross-origin.ts";
import { readSmallBody } from "../rest/body.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import { escapeHtml } from "../../core/mail/html.ts";
import { sendPlainPage } from "../web/plain-page.ts";
import { AUTHORIZATION_SERVER, authorizationServerMetadata } from "./metadata.ts";
import { type OauthProvider, oauthProvider, type ProviderOptions } from "./provider.ts";
import { displayName, placeOf, reduceRegistration } from "./registration.ts";

/** The path of the metadata. That of the issuer comes behind it (RFC 8414, section 3.1); proxies may pass on only what is below theirs. */
const METADATA_PATH = `/.well-known/${AUTHORIZATION_SERVER}`;
/** The title of the page that refuses a request. */
const TITLE = "This application can't be connected";
/** Maximum length of the query of an authorization, in characters: it is stored until a person decides. */
const MAX_QUERY = 8_000;

/** A request of an application that a person decides. */
export interface AuthorizationRequest {
  id: string;
  clientId: string;
  /** What the client calls itself. Anybody can use any name. */
  name: string;
  redirectUri: string;
  scopes: Scope[];
  /** Absolute URL of the resource that the token is for. */
  resource: string;
  /** When it ends, in milliseconds since 1970. */
  expiresAt: number;
}

/** What a person grants. */
interface Decision {
  /** The id of the row in the key table. */
  keyId: string;
  userId: string;
  scopes: readonly Scope[];
}

export interface AuthorizationServer {
  mount(app: Express): void;
  /** The base URL of the web server. */
  issuer(): string;
  /** The undecided request that this browser has begun last; undefined without one. */
  pendingRequest(req: Request, res: Response): Promise<AuthorizationRequest | undefined>;
  /**
   * Decides a request.
   * @param decision null to refuse it
   * @returns the path at which the browser goes on to the application
   */
  decide(request: AuthorizationRequest, decision: Decision | null): Promise<string>;
}

export interface AuthorizationServerOptions extends Omit<
  ProviderOptions,
  "issuer" | "mayFetch" | "renderError"
> {
  /** The base URL of the web server, which is known once it listens. */
  issuer: () => string;
  /** The path of the issuer; empty for none. */
  pathPrefix: string;
  /** Whether clients can register themselves. */
  registration: boolean;
  originRules: OriginRules;
  throttle: Throttle;
  log: Logger;
}

export function authorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { log, throttle } = options;
  let started: { provider: OauthProvider; handle: ReturnType<OauthProvider["callback"]> } | undefined;

  async function mayFetch(ctx: KoaContextWithOIDC | undefined): Promise<boolean> {
    // Outside of a request of a client: a person reads the consent page.
    if (ctx === undefined) return true;
    const attempt = throttle.consume("client_document", { address: clientAddressOf(ctx.req as Request) });
    return attempt.then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === "too_many_attempts") return false;
        throw error;
      },
    );
  }

  function report(ctx: KoaContextWithOIDC, error: Error): void {
    log.info({ request_id: requestIdOf(ctx), reason: reasonOf(error) }, "authorization refused");
  }

  function start() {
    const provider = oauthProvider({ ...options, issuer: options.issuer(), mayFetch, renderError });
    provider.on("authorization.error", report);
    provider.on("grant.error", report);
    provider.on("revocation.error", report);
    provider.on("server_error", (ctx, err) =>
      log.error({ request_id: requestIdOf(ctx), err }, "authorization failed"),
    );
    // Without a listener it would be written to the terminal.
    (provider as EventEmitter).on("error", () => {});
    return { provider, handle: provider.callback() };
  }
  const running = () => (started ??= start());

  /** Passes a request to the provider, which takes the address of the issuer from these headers. */
  async function handle(req: Request, res: Response): Promise<void> {
    const issuer = new URL(options.issuer());
    req.headers.host = issuer.host;
    req.headers["x-forwarded-host"] = issuer.host;
    req.headers["x-forwarded-proto"] = issuer.protocol.slice(0, -1);
    // By what is in front of the path of the request it finds the path of its own pages.
    req.originalUrl = req.baseUrl + req.url;
    await running().handle(req, res);
  }

  async function authorize(req: Request, res: Response): Promise<void> {
    await throttle.consume("authorize", { address: clientAddressOf(req) });
    const { search } = new URL(req.originalUrl, options.issuer());
    const params = toSupportedParameters(new URLSearchParams(search));
    const issue = queryIssue(search, params);
    if (issue !== undefined) return sendPlainPage(res, 400, TITLE, `<p>${issue}</p>`);
    req.url = `${req.path}?${params.toString()}`;
    await handle(req, res);
  }

  async function register(req: Request, res: Response): Promise<void> {
    res.setHeader("Cache-Control", "no-store");
    await throttle.consume("register_client", { address: clientAddressOf(req) });
    await readSmallBody(req, res, true);
    try {
      const client = {
        client_id: `client_${randomBase62(22)}`,
        client_id_issued_at: Math.floor(Date.now() / 1_000),
        ...reduceRegistration(req.body),
      };
      const { provider } = running();
      await provider.Client.validate(client);
      await options.adapter("Client").upsert(client.client_id, client);
      res.status(201).json(client);
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      res.status(400).json({ error: error.error, error_description: error.error_description });
    }
  }

  return {
    issuer: options.issuer,

    mount(app) {
      // Not for what a person's browser opens: the request, and its decision.
      const forClients = (path: string | string[], method: "GET" | "POST") =>
        app.route(path).all((req, res, next) => {
          if (!answerCrossOrigin(req, res, [method], options.originRules)) next();
        });
      forClients([METADATA_PATH, METADATA_PATH + options.pathPrefix], "GET")
        .get((_req, res) => {
          res.json(authorizationServerMetadata(options.issuer(), options.registration));
        })
        .all(rejectOtherMethods(["GET"]));
      app
        .route("/oauth/authorize")
        .get(authorize)
        .all(rejectOtherMethods(["GET"]));
      app
        .route("/oauth/authorize/:uid")
        .get(handle)
        .all(rejectOtherMethods(["GET"]));
      forClients("/oauth/token", "POST")
        .post(handle)
        .all(rejectOtherMethods(["POST"]));
      forClients("/oauth/revoke", "POST")
        .post(handle)
        .all(rejectOtherMethods(["POST"]));
      if (options.registration)
        forClients("/oauth/register", "POST")
          .post(register)
          .all(rejectOtherMethods(["POST"]));
    },

    async pendingRequest(req, res) {
      const { provider } = running();
      const interaction = await provider.interactionDetails(req, res).catch((error: unknown) => {
        if (error instanceof errors.SessionNotFound) return undefined;
        throw error;
      });
      if (interaction === undefined || interaction.result !== undefined) return undefined;
      const { client_id: clientId, redirect_uri: redirectUri, scope, resource } = interaction.params;
      const client = await provider.Client.find(String(clientId));
      if (client === undefined) return undefined;
      const asked = new Set(String(scope).split(" "));
      return {
        id: interaction.uid,
        clientId: client.clientId,
        name: displayName(client.clientName ?? ""),
        redirectUri: String(redirectUri),
        scopes: Scope.options.filter((name) => asked.has(name)),
        resource: String(resource),
        expiresAt: interaction.exp * 1_000,
      };
    },

    async decide({ id, clientId, resource }, decision) {
      const { provider } = running();
      const interaction = await provider.Interaction.find(id);
      if (interaction === undefined) throw requestExpired();
      if (decision === null) {
        interaction.result = { error: "access_denied", error_description: "the person refused" };
      } else {
        const { keyId, userId, scopes } = decision;
        const grant = new provider.Grant({ accountId: userId, clientId });
        grant.jti = keyId;
        grant.addResourceScope(resource, scopes.join(" "));
        await grant.save();
        interaction.result = {
          login: { accountId: userId, remember: false },
          consent: { grantId: keyId },
        };
      }
      await interaction.persist();
      return new URL(interaction.returnTo).pathname;
    },
  };
}

/** The error for a request that has expired, is decided, or was begun in another browser. */
export const requestExpired = (): AppError =>
  new AppError(
    "authorization_expired",
    "This request of an application has expired, was decided, or was begun in another browser. Connect the application again.",
  );

/**
 * The parameters of an authorization without those of OpenID Connect, which clients send by habit, and with the scopes that
 * Millrace has. Without any, the client asks for those of a new key.
 */
function toSupportedParameters(params: URLSearchParams): URLSearchParams {
  for (const name of ["nonce", "max_age", "acr_values", "claims", "id_token_hint"]) params.delete(name);
  if (params.getAll("scope").length > 1) return params;
  const asked = new Set((params.get("scope") ?? "").split(" "));
  const known = Scope.options.filter((scope) => asked.has(scope));
  params.set("scope", (known.length > 0 ? known : DEFAULT_SCOPES).join(" "));
  return params;
}

/** Why a request is refused before it reaches the provider; undefined when it is not. */
function queryIssue(search: string, params: URLSearchParams): string | undefined {
  if (search.length > MAX_QUERY) return "Its request is too long.";
  if (params.getAll("resource").length > 1) return "It asked for several resources at once.";
  // Another mode than the application expects would leave the code where others may find it.
  if (params.getAll("response_mode").some((mode) => mode !== "query"))
    return "It asked for an answer in another form than in the query (response_mode).";
  return undefined;
}

const reasonOf = (error: Error): string =>
  // The answer to the client says less than this.
  (error as { error_detail?: string }).error_detail ?? error.message;

const requestIdOf = (ctx: KoaContextWithOIDC): string => ctx.response.get("X-Request-Id");

/** Shows why a request is refused. The person decides whether to go to its client, which can be anybody's. */
function renderError(ctx: KoaContextWithOIDC, message: string, continueAt?: URL): void {
  ctx.respond = false;
  const back =
    continueAt === undefined
      ? ""
      : `<p>Or go <a href="${escapeHtml(continueAt.href)}" rel="noreferrer">back to ${escapeHtml(placeOf(continueAt.href).host)}</a>, if that is the application.</p>`;
  sendPlainPage(
    ctx.res,
    ctx.status,
    TITLE,
    `<p>${escapeHtml(message.slice(0, 1).toUpperCase() + message.slice(1))}.</p><p>Start again in the application.</p>${back}`,
  );
}
