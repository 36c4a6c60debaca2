/** From the headers of a request to the key it comes with. */
import type { IncomingHttpHeaders } from "node:http";
import type { Scope } from "../../schemas/actor.ts";
import { ROLE_SCOPES } from "../../schemas/user.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import type { Principal } from "../core/ports.ts";
import { type KeyState, apiKeyState } from "../core/api-key-lifecycle.ts";
import { digestOf, isKeyValue } from "./key-format.ts";

/** Last used is written at most once in this time per key and process. */
const TOUCH_EVERY = 5 * MINUTE;

export interface Authenticator {
  /**
   * Whose request it is, by `X-API-Key` or `Authorization: Bearer`.
   * @throws AppError unauthorized: the same for a key that is missing, malformed, unknown, expired, revoked, or of
   *   somebody who is not active
   */
  authenticate(headers: IncomingHttpHeaders): Promise<Principal>;
  /** Which of these keys are dead by now. */
  findInvalid(keyIds: readonly string[]): Promise<string[]>;
  /** Writes when keys were last used; called by a timer, never by a request. */
  flush(): Promise<void>;
}

/** What an outsider learns, whatever is wrong with the key. */
const refuse = (): AppError =>
  new AppError(
    "unauthorized",
    "This needs a valid API key in the X-API-Key header (or Authorization: Bearer). " +
      "If you have one, it may be mistyped, expired or revoked; an operator makes another with: millrace keys create --name <name>",
    { headers: { "WWW-Authenticate": 'ApiKey realm="millrace"' } },
  );

/**
 * @param report is told of a key that is known and dead: for the log, never for the client
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
      const due = [...usedAt].filter(([id]) => now - (writtenAt.get(id) ?? -Infinity) >= TOUCH_EVERY);
      if (due.length > 0)
        await keys.touch(new Map(due.map(([id, at]) => [id, iso(at)])), iso(now - TOUCH_EVERY));
      for (const [id, at] of due) {
        writtenAt.set(id, now);
        // A use that came during the write waits for the next one.
        if (usedAt.get(id) === at) usedAt.delete(id);
      }
      for (const [id, at] of writtenAt) if (now - at >= TOUCH_EVERY) writtenAt.delete(id);
    },
  };
}

/** A key never does what its owner's role does not allow now. */
function scopesOf({ scopes, user }: ApiKeyWithOwner): ReadonlySet<Scope> {
  return new Set(user === null ? scopes : scopes.filter((scope) => ROLE_SCOPES[user.role].includes(scope)));
}

function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (own !== undefined) return typeof own === "string" ? own.trim() : undefined;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}
