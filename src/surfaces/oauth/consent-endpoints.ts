/** Endpoints of the consent page: a person reads the request of an application, and decides it. */
import { z } from "zod";
import {
  AuthorizationDecision,
  AuthorizationOutcome,
  AuthorizationRequest as WireRequest,
  AuthorizationRequestId,
} from "../../../schemas/oauth.ts";
import type { Issue } from "../../../schemas/problem.ts";
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { enforceKeyLimit } from "../../../tools/api-keys/enforce-key-limit.ts";
import { grantableScopes } from "../../../tools/api-keys/key-area.ts";
import { scopesIn } from "../../core/access.ts";
import { iso, SECOND } from "../../core/clock.ts";
import { invalidInput } from "../../core/issues.ts";
import { defineEndpoint, type SessionContext } from "../session/endpoint.ts";
import { CODE_LIFETIME_S } from "./provider.ts";
import { placeOf } from "./registration.ts";
import { type AuthorizationRequest, requestExpired } from "./server.ts";

/** How long the browser and the application may take from the decision to the token, in milliseconds. */
const EXCHANGE_MS = (CODE_LIFETIME_S + 60) * SECOND;
/** Maximum length of the name of a key, in characters. */
const MAX_KEY_NAME = 100;
/** Maximum length of the host in the name of a key, in characters. */
const MAX_HOST_IN_NAME = 60;

export const getAuthorizationRequest = defineEndpoint({
  name: "get_authorization_request",
  title: "Get the request of an application",
  description: "Returns what an application asks for that began to connect in this browser.",
  method: "GET",
  path: "/session/authorization",
  requiresSession: true,
  errors: ["authorization_expired"],
  input: z.strictObject({ request: AuthorizationRequestId }),
  status: 200,
  output: WireRequest,
  async run({ request: id }, ctx) {
    const request = await findRequest(ctx, id);
    const { scopes, projects } = await offerOf(ctx, request);
    return {
      name: request.name,
      ...placeOf(request.redirectUri),
      published_by: publisherOf(request),
      scopes,
      projects,
      resource: request.resource,
      expires_at: iso(request.expiresAt),
    };
  },
});

export const decideAuthorization = defineEndpoint({
  name: "authorize_application",
  title: "Decide the request of an application",
  description:
    "Gives an application access in your name, as a row of your API keys that you can revoke, or refuses it.",
  method: "POST",
  path: "/session/authorization",
  requiresSession: true,
  errors: ["authorization_expired", "too_many_keys", "upgrade_unfinished"],
  input: AuthorizationDecision,
  status: 200,
  output: AuthorizationOutcome,
  async run({ request: id, allow, scopes: chosen, projects: chosenProjects }, ctx) {
    const request = await findRequest(ctx, id);
    const { oauth } = ctx.signIn;
    if (!allow) return { continue_at: await oauth!.decide(request, null) };
    const { access, ...offer } = await offerOf(ctx, request);
    const projectIds = offer.projects.map((project) => project.id);
    const projects = chosenProjects ?? [
      projectIds.includes(DEFAULT_PROJECT) ? DEFAULT_PROJECT : (projectIds[0] ?? DEFAULT_PROJECT),
    ];
    // A role that the person gets in these projects later must not widen what they grant now.
    const grantable = grantableScopes(access, projects);
    const offered = offer.scopes.filter((scope) => grantable.has(scope));
    const scopes = chosen ?? offered;
    const issues = [
      ...notOffered("scopes", scopes, [...offered, "read"]),
      ...notOffered("projects", projects, projectIds),
    ];
    if (issues.length > 0) throw invalidInput(issues);
    const { services } = ctx;
    const { user } = ctx.current!;
    const now = services.clock.now();
    const { host } = placeOf(request.redirectUri);
    const shownHost = publisherOf(request) ?? host;
    const until = iso(now + EXCHANGE_MS);
    const { record } = services.accounts.newKey({
      name: keyName(request.name, shownHost),
      owner: user.email,
      scopes,
      projects: [...new Set(projects)],
      limits: null,
      expiresAt: until,
      application: {
        clientId: request.clientId,
        host: shownHost,
        resource: request.resource,
        renewableUntil: until,
      },
    });
    await ctx.write(user, async (tx) => {
      await tx.apiKeys.insert(record);
      await enforceKeyLimit(tx.apiKeys, user.email, now);
      await tx.recordAudit(record.id, undefined, {
        details: { client: request.clientId.slice(0, 200), host, scopes: record.scopes, projects },
      });
    });
    const decision = { keyId: record.id, userId: user.id, scopes: record.scopes };
    return { continue_at: await oauth!.decide(request, decision) };
  },
});

/** @throws AppError authorization_expired, also for a request of another browser */
async function findRequest(ctx: SessionContext, id: string): Promise<AuthorizationRequest> {
  const request = await ctx.pendingAuthorization();
  if (request?.id !== id) throw requestExpired();
  return request;
}

/** What of the request the person can grant. */
async function offerOf(ctx: SessionContext, { scopes: asked }: AuthorizationRequest) {
  const access = await ctx.signIn.sessions.accessOf(ctx.current!.user);
  const all = await ctx.services.read.projects.list();
  const projects = all
    .filter(({ id }) => scopesIn(access, id).size > 0)
    .map(({ id, name }) => ({ id, name }));
  const grantable = grantableScopes(
    access,
    projects.map(({ id }) => id),
  );
  return { access, scopes: asked.filter((scope) => grantable.has(scope)), projects };
}

/** The name of the row in the list of keys. The host stays readable, of a long one its end, which says whose it is. */
function keyName(name: string, host: string): string {
  const shown = host.length > MAX_HOST_IN_NAME ? `…${host.slice(1 - MAX_HOST_IN_NAME)}` : host;
  const most = MAX_KEY_NAME - shown.length - " ()".length;
  return `${Array.from(name).slice(0, most).join("")} (${shown})`;
}

/** The host of a client's metadata document, which proves that the host knows the redirect URI; null for other clients. */
const publisherOf = ({ clientId }: AuthorizationRequest): string | null =>
  clientId.startsWith("https://") ? new URL(clientId).host : null;

const notOffered = (path: string, values: readonly string[], allowed: readonly string[]): Issue[] =>
  values.flatMap((value, index) =>
    allowed.includes(value)
      ? []
      : [
          {
            path: `${path}[${index}]`,
            code: "not_allowed",
            message: "is not part of this request, or your role does not grant it",
            allowed: [...allowed],
          },
        ],
  );
