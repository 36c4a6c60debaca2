/** What oidc-provider stores: access tokens in the key table, everything else as state of the protocol. */
import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { Scope } from "../../../schemas/actor.ts";
import { digestOf } from "../../auth/key-format.ts";
import type { ApiKeyStore } from "../../core/account-ports.ts";
import { type Clock, DAY, iso, SECOND } from "../../core/clock.ts";
import type { OauthStateStore } from "../../core/oauth-port.ts";
import { withAllowedRedirects } from "./redirect-uris.ts";

/** How long a used code or refresh token is kept, so that its second use is noticed, in milliseconds. */
const KEEP_USED_MS = 7 * DAY;
/** How long a registration is kept until the first token of the client is issued, in milliseconds. */
const KEEP_UNUSED_CLIENT_MS = DAY;
/**
 * Maximum number of registrations that end within a day: those without a token, and those on the last day after their last token. The
 * one that ends first makes room for a new one, so nobody keeps others from registering.
 */
const MAX_UNUSED_CLIENTS = 5_000;
/** How long a registration is kept after the last token of the client was issued, in milliseconds. */
const KEEP_CLIENT_MS = 90 * DAY;

export interface AdapterServices {
  states: OauthStateStore;
  keys: Pick<ApiKeyStore, "find" | "findByDigest" | "renew" | "setRenewableUntil">;
  clock: Clock;
  /** Revokes the authorization of an application, with an audit entry. @param id of the grant, which is that of the key */
  revoke(id: string): Promise<void>;
}

/** Models whose rows are worth nothing once the authorization that they belong to is revoked. */
const OF_GRANT: ReadonlySet<string> = new Set(["Grant", "AuthorizationCode", "RefreshToken"]);

/** A grant of the protocol has the id of its row in the key table, so revoking the row ends codes and tokens too. */
export function oauthAdapter(services: AdapterServices): (model: string) => Adapter {
  return (model) => {
    if (model === "AccessToken") return accessTokens(services);
    return model === "Session" ? NO_SESSIONS : stateRows(model, services);
  };
}

const unused = {
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
};

/** People sign in to Millrace and decide each request, so the provider remembers nobody. */
const NO_SESSIONS: Adapter = {
  ...unused,
  upsert: async () => undefined,
  find: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/** A time (ISO 8601) in seconds since 1970. */
const toSeconds = (time: string): number => Math.floor(Date.parse(time) / SECOND);

function accessTokens({ keys, clock, revoke, states }: AdapterServices): Adapter {
  const find = async (token: string) => {
    const key = await keys.findByDigest(digestOf(token));
    if (key === undefined || key.application === null || key.revokedAt !== null) return undefined;
    return { ...key, application: key.application };
  };
  return {
    ...unused,
    async upsert(token, { grantId, scope = "", clientId }, expiresIn) {
      const granted = new Set(scope.split(" "));
      const lifetime = expiresIn! * SECOND;
      const renewed = await keys.renew(grantId!, {
        digest: digestOf(token),
        lastFour: token.slice(-4),
        scopes: Scope.options.filter((name) => name === "read" || granted.has(name)),
        expiresAt: iso(clock.now() + lifetime),
      });
      if (!renewed) throw new errors.InvalidGrant("the authorization was revoked");
      await states.extend("Client", digestOf(clientId!), clock.now() + KEEP_CLIENT_MS);
    },
    async find(token) {
      const key = await find(token);
      if (key === undefined || key.expiresAt === null) return undefined;
      return {
        kind: "AccessToken",
        jti: token,
        grantId: key.id,
        clientId: key.application.clientId,
        aud: key.application.resource,
        scope: key.scopes.join(" "),
        iat: toSeconds(key.createdAt),
        exp: toSeconds(key.expiresAt),
      };
    },
    consume: async () => undefined,
    async destroy(token) {
      const key = await find(token);
      if (key !== undefined) await revoke(key.id);
    },
    revokeByGrantId: revoke,
  };
}

function stateRows(model: string, { states, keys, clock, revoke }: AdapterServices): Adapter {
  const isOfGrant = OF_GRANT.has(model);
  return {
    ...unused,
    async upsert(id, given, expiresIn) {
      // The id may be a token, which is stored nowhere.
      const { jti: _, ...payload } = given;
      const grantId = model === "Grant" ? id : (payload.grantId ?? null);
      const expiresAt = clock.now() + (expiresIn === undefined ? KEEP_UNUSED_CLIENT_MS : expiresIn * SECOND);
      const limit = model === "Client" ? { atMost: MAX_UNUSED_CLIENTS } : {};
      await states.save(model, digestOf(id), { payload, grantId, expiresAt, ...limit });
      if (model !== "RefreshToken" || grantId === null) return;
      await keys.setRenewableUntil(grantId, iso(expiresAt));
      // A client that is not registered any more could not renew.
      await states.extend("Client", digestOf(payload.clientId!), expiresAt + KEEP_USED_MS);
    },
    async find(id) {
      const state = await states.find(model, digestOf(id));
      if (state === undefined) return undefined;
      const payload: AdapterPayload = state.payload;
      const grantId = model === "Grant" ? id : payload.grantId;
      if (isOfGrant && ((await keys.find(grantId ?? ""))?.revokedAt ?? null) !== null) return undefined;
      return {
        ...(model === "Client" ? withAllowedRedirects(payload) : { ...payload, jti: id }),
        ...(state.consumedAt !== null && { consumed: Math.floor(state.consumedAt / SECOND) }),
      };
    },
    async consume(id) {
      const digest = digestOf(id);
      if (await states.consume(model, digest, clock.now() + KEEP_USED_MS)) return;
      // Of two requests at the same time, on any copies, one used it. Nothing says which of them is the thief's.
      const grantId: unknown = (await states.find(model, digest))?.payload["grantId"];
      if (typeof grantId === "string") await revoke(grantId);
      throw new errors.InvalidGrant("it was used already");
    },
    destroy: (id) => states.remove(model, digestOf(id)),
    revokeByGrantId: (grantId) => states.removeByGrant(model, grantId),
  };
}
