/** Authenticates requests by the API key in their headers. */
import type { IncomingHttpHeaders } from "node:http";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { isResourceOf } from "../core/mcp-resource.ts";
import type { KeyApplication } from "../core/oauth-port.ts";
import type { ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import { type Access, accessOfKey, NO_MEMBERSHIPS, scopesOf } from "../core/access.ts";
import type { Principal } from "../core/ports.ts";
import type { ProjectRoles } from "../core/project-ports.ts";
import { type KeyState, apiKeyState } from "../core/api-key-lifecycle.ts";
import { digestOf, isKeyValue } from "./key-format.ts";

/** Minimum interval between two writes of a key's last use, per process, in milliseconds. */
const TOUCH_INTERVAL_MS = 5 * MINUTE;

export interface Authenticator {
  /**
   * Returns the principal of a request, by `X-API-Key` or `Authorization: Bearer`.
   * @param resource the URL of the MCP server that was asked; the tokens of applications are valid for it only. Left out
   *   where they are not valid at all.
   * @throws AppError unauthorized; the same for a key that is missing, malformed, unknown, expired or revoked, whose
   *   owner is not active, or that is a token for another resource
   */
  authenticate(headers: IncomingHttpHeaders, resource?: string): Promise<Principal>;
  /** Returns those of the given keys that are no longer valid. @param at when they may expire, by default now, in milliseconds */
  findInvalid(keyIds: readonly string[], at?: number): Promise<string[]>;
  /** What a key may see and do now; undefined when it does not exist. */
  accessOf(keyId: string): Promise<Access | undefined>;
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
  projects: ProjectRoles,
  clock: Clock,
  report: (keyId: string, state: Exclude<KeyState, "active">) => void,
): Authenticator {
  const usedAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  /** By the record of a key, which the store returns again until something changes: computing one costs as much as reading it. */
  const accesses = new WeakMap<ApiKeyWithOwner, Access>();

  /** The access of a key, limited to what its owner's roles allow now. */
  async function accessOf(key: ApiKeyWithOwner): Promise<Access> {
    const known = accesses.get(key);
    if (known !== undefined) return known;
    const { user, isSingleProject } = key;
    const memberships =
      user === null || isSingleProject ? NO_MEMBERSHIPS : await projects.membershipsOf(key.owner);
    const owner = user && { role: user.role, memberships, isSingleProject };
    const access = accessOfKey(key, owner, isSingleProject);
    accesses.set(key, access);
    return access;
  }

  return {
    async authenticate(headers, resource) {
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
      if (key.application !== null && !isTokenFor(key.application, resource)) throw refuse();
      usedAt.set(key.id, now);
      const access = await accessOf(key);
      return {
        kind: "key",
        keyId: key.id,
        keyName: key.name,
        owner: key.owner,
        lineage: key.lineage,
        scopes: scopesOf(access),
        access,
        ...(key.application !== null && { application: true }),
      };
    },

    findInvalid: (ids, at = clock.now()) => keys.findInvalid(ids, iso(at)),

    async accessOf(id) {
      const key = await keys.find(id);
      return key && accessOf(key);
    },

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

const isTokenFor = (application: KeyApplication, resource: string | undefined): boolean =>
  resource !== undefined && isResourceOf(application.resource, resource);

function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers["x-api-key"];
  if (own !== undefined) return typeof own === "string" ? own.trim() : undefined;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}
