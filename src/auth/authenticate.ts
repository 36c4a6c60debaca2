/** Authenticates requests by the API key in their headers. */
import type { IncomingHttpHeaders } from "node:http";
import type { Scope } from "../../schemas/actor.ts";
import { ROLE_SCOPES } from "../../schemas/user.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import type { Principal } from "../core/ports.ts";
import { type KeyState, apiKeyState } from "../core/api-key-lifecycle.ts";
import { digestOf, isKeyValue } from "./key-format.ts";

/** Minimum interval between two writes of a key's last use, per process, in milliseconds. */
const TOUCH_INTERVAL_MS = 5 * MINUTE;

export interface Authenticator {
  /**
   * Returns the principal of a request, by `X-API-Key` or `Authorization: Bearer`.
   * @throws AppError unauthorized; the same for a key that is missing, malformed, unknown, expired or revoked, or whose
   *   owner is not active
   */
  authenticate(headers: IncomingHttpHeaders): Promise<Principal>;
  /** Returns those of the given keys that are no longer valid. */
  findInvalid(keyIds: readonly string[]): Promise<string[]>;
  /** Writes when keys were last used. A timer calls it, never a request. */
  flush(): Promise<void>;
}

/** The error that a client gets, whatever is wrong with its key. */
const refuse = (): AppError =>
  new AppError(
    "unauthorized",
    "This request needs a valid API key in the X-API-Key header (or Authorization: Bearer). " +
      "If you sent one, it may be mistyped, expired or revoked. An operator can create another with: millrace keys create --name <name>",
    { headers: { "WWW-Authenticate": 'ApiKey realm="millrace"' } },
  );

/**
 * @param report called with a known key that is no longer valid, for the log; the client never learns this
 */
export function authenticator(
  keys: ApiKeyStore,
  clock: Clock,
  report: (keyId: string, state: Exclude<KeyState, "active">) => void,
): Authenticator {
  const usedAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();

  return {
    async authenticate(headers) {
      const value = credentialOf(headers);
      if (value === undefined || !isKeyValue(value)) throw refuse();
      const key = await keys.findByDigest(digestOf(value));
      if (key === undefined) throw refuse();
      const now = clock.now();
      const state = apiKeyState(key, now);
      if (state !== "active") {
        report(key.id, state);
        throw refuse();
      }
      usedAt.set(key.id, now);
      return {
        kind: "key",
        keyId: key.id,
        keyName: key.name,
        owner: key.owner,
        lineage: key.lineage,
        scopes: scopesOf(key),
      };
    },

    findInvalid: (ids) => keys.findInvalid(ids, iso(clock.now())),

    async flush() {
      const now = clock.now();
      const due = [...usedAt].filter(([id]) => now - (writtenAt.get(id) ?? -Infinity) >= TOUCH_INTERVAL_MS);
      if (due.length > 0)
        await keys.touch(new Map(due.map(([id, at]) => [id, iso(at)])), iso(now - TOUCH_INTERVAL_MS));
      for (const [id, at] of due) {
        writtenAt.set(id, now);
        // A use during the write is written by the next flush.
        if (usedAt.get(id) === at) usedAt.delete(id);
      }
      for (const [id, at] of writtenAt) if (now - at >= TOUCH_INTERVAL_MS) writtenAt.delete(id);
    },
  };
}

/** The scopes of a key, limited to what its owner's role allows now. */
function scopesOf({ scopes, user }: ApiKeyWithOwner): ReadonlySet<Scope> {
  return new Set(user === null ? scopes : scopes.filter((scope) => ROLE_SCOPES[user.role].includes(scope)));
}

function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (own !== undefined) return typeof own === "string" ? own.trim() : undefined;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}
