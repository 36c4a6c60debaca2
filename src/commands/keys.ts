/** `millrace keys`: API keys on the command line. */
import { OPERATOR, Scope } from "../../schemas/actor.ts";
import { ApiKeyName, type DescribedApiKey } from "../../schemas/api-key.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { describeKey } from "../../tools/api-keys/describe-key.ts";
import { serializeKeyArea } from "../../tools/api-keys/serialize-api-key.ts";
import { openInstance } from "../app/instance.ts";
import { createKey, rotateKey } from "../auth/api-keys.ts";
import { digestOf, isKeyValue } from "../auth/key-format.ts";
import { readEnvironment } from "../config/environment.ts";
import { DEFAULT_OVERLAP_MS, parseExpiry, apiKeyState, withLastingEnd } from "../core/api-key-lifecycle.ts";
import { DAY, HOUR, iso, MINUTE, SECOND, systemClock } from "../core/clock.ts";
import { issuesOf } from "../core/issues.ts";
import { nearMatch } from "../core/near-match.ts";
import type { ApiKeyRecord, ApiKeyStore, ApiKeyWithOwner } from "../core/account-ports.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { createLimitedKey, hasKeyArea, type KeyAreaOptions, limitsText } from "./limited-keys.ts";
import { withOperator } from "./operator.ts";
import { requireState } from "./require-state.ts";
import { CommandError, EXIT, type Io, issueLine, openLog, paint } from "./io.ts";

/** @param requiresStateFor what a read-only command does with the state, which must exist */
async function withKeys<T>(
  io: Io,
  work: (keys: ApiKeyStore) => Promise<T>,
  requiresStateFor?: string,
): Promise<T> {
  const settings = readEnvironment(io.env);
  if (requiresStateFor !== undefined) requireState(settings, requiresStateFor);
  const instance = await openInstance(settings, systemClock, await openLog(io, "error", "keys"));
  try {
    return await work(instance.keys);
  } finally {
    await instance.close();
  }
}

/** Creates a key and prints it. Standard output holds nothing but the key; it is never shown again. */
export async function createApiKey(
  io: Io,
  options: { name: string; expires?: string; scope?: string[]; json?: boolean } & KeyAreaOptions,
): Promise<void> {
  const name = checkName(options.name);
  const scopes = options.scope?.map(checkScope);
  const expiresAt = options.expires === undefined ? null : checkExpiry(options.expires);
  if (hasKeyArea(options)) {
    const key = { name, ...(scopes && { scopes }), ...(expiresAt !== null && { expires_at: expiresAt }) };
    const created = await createLimitedKey(io, key, options);
    return printNewKey(io, created, options.json ? created : undefined);
  }
  const { value, record } = await withKeys(io, (keys) =>
    createKey(keys, systemClock, { name, owner: OPERATOR, expiresAt, ...(scopes && { scopes }) }),
  );
  printNewKey(io, { ...record, value }, options.json ? { value, ...toJson(record) } : undefined);
}

/** @param json printed instead of the value */
function printNewKey(
  io: Io,
  { id, scopes, value }: { id: string; scopes: readonly Scope[]; value: string },
  json: object | undefined,
): void {
  if (json !== undefined) return io.out(`${JSON.stringify(json)}\n`);
  io.out(`${value}\n`);
  if (!io.terminal) return;
  const { dim } = paint(io);
  io.err(dim(`${id}, scopes ${scopes.join(", ")}. Save it now: it will not be shown again.\n`));
}

/** Lists keys without their values. */
export async function listApiKeys(io: Io, options: { json?: boolean }): Promise<void> {
  const keys = await withKeys(io, (store) => store.list(), "list keys of");
  const now = systemClock.now();
  const all = keys.map((key) => toListed(withLastingEnd(key), now));
  if (options.json) return io.out(`${JSON.stringify(all, null, 2)}\n`);
  if (keys.length === 0)
    return io.out("There are no API keys yet. Create one: millrace keys create --name <name>\n");
  const { bold, red, dim } = paint(io);
  const hasProjects = all.some(({ projects }) => projects !== undefined);
  const hasLimits = all.some(({ limits }) => limits !== undefined);
  const rows = all.map((key) =>
    [key.id, key.name, `…${key.last_four}`, key.scopes.join(",")].concat(
      hasProjects ? (key.projects ?? [DEFAULT_PROJECT]).join(",") : [],
      hasLimits ? limitsText(key.limits ?? null) : [],
      key.state.replace("_", " "),
      formatTimestamp(key.created_at),
      formatTimestamp(key.expires_at),
      formatTimestamp(key.last_used_at),
    ),
  );
  const head = ["ID", "NAME", "KEY", "SCOPES"]
    .concat(hasProjects ? ["PROJECTS"] : [], hasLimits ? ["LIMITS"] : [])
    .concat("STATE", "CREATED", "EXPIRES", "LAST USED");
  const stateColumn = head.indexOf("STATE");
  const line = alignColumns([head, ...rows]);
  io.out(`${bold(line(head))}\n`);
  for (const row of rows) {
    const state = row[stateColumn];
    io.out(`${state === "active" ? line(row) : state === "revoked" ? dim(line(row)) : red(line(row))}\n`);
  }
}

/** Revokes a key, on every server and on open streams. */
export async function revokeApiKey(io: Io, which: string): Promise<void> {
  await withKeys(io, async (keys) => {
    const key = await findKey(keys, which);
    const revoked = await keys.revoke(key.id, iso(systemClock.now()), OPERATOR);
    io.out(revoked ? `Revoked ${key.id} (${key.name}).\n` : `${key.id} (${key.name}) was already revoked.\n`);
  });
}

/** Prints in words what a key can do. */
export async function showApiKey(
  io: Io,
  which: string,
  { json, config }: { json?: boolean; config?: string },
): Promise<void> {
  const operatorOptions = { config, requiresStateFor: "show a key of" };
  const key = await withOperator(io, operatorOptions, async ({ instance, call }) => {
    const { id } = await findKey(instance.keys, which);
    return call<DescribedApiKey>(describeKey, { key_id: id });
  });
  if (json) return io.out(`${JSON.stringify(key, null, 2)}\n`);
  const { bold, dim } = paint(io);
  io.out(`${bold(key.name)} ${dim(`${key.id}, …${key.last_four}`)}\n`);
  for (const { title, sentences } of key.description)
    io.out(`\n${bold(title)}\n${sentences.map((sentence) => `  ${sentence}\n`).join("")}`);
}

/** Creates a replacement for a key; the old key keeps working for the overlap. */
export async function rotateApiKey(
  io: Io,
  which: string,
  options: { overlap?: string; expires?: string; json?: boolean },
): Promise<void> {
  const overlap = options.overlap === undefined ? DEFAULT_OVERLAP_MS : parseDuration(options.overlap);
  const expiresAt = options.expires === undefined ? undefined : checkExpiry(options.expires);
  await withKeys(io, async (keys) => {
    const old = await findKey(keys, which);
    const { value, record, oldExpiresAt } = await rotateKey(keys, systemClock, old, { overlap, expiresAt });
    if (options.json)
      return io.out(
        `${JSON.stringify({ value, ...toJson(record), old_id: old.id, old_expires_at: oldExpiresAt })}\n`,
      );
    io.out(`${value}\n`);
    if (io.terminal) io.err(`${record.id} replaces ${old.id}, which works until ${oldExpiresAt}.\n`);
  });
}

/** Finds a key by its id, by its value (for a leaked key), or by its name if only one active key has it. */
export async function findKey(keys: ApiKeyStore, which: string): Promise<ApiKeyWithOwner> {
  if (isKeyValue(which)) {
    const key = await keys.findByDigest(digestOf(which));
    if (key !== undefined) return key;
    throw new CommandError("This key does not exist in this instance.");
  }
  const all = await keys.list();
  const byId = all.find((key) => key.id === which);
  if (byId !== undefined) return byId;
  const now = systemClock.now();
  const named = all.filter((key) => key.name === which);
  const active = named.filter((key) => apiKeyState(withLastingEnd(key), now) === "active");
  if (active.length === 1) return active[0]!;
  if (active.length > 1) {
    throw new CommandError(
      `${active.length} active keys have the name ${which}. Use an id instead: ${active.map((key) => key.id).join(", ")}.`,
    );
  }
  if (named.length > 0) return named.at(-1)!;
  const near = nearMatch(
    which,
    all.flatMap((key) => [key.id, key.name]),
  );
  throw new CommandError(
    `There is no key with this id or name.${near === undefined ? " List all keys with: millrace keys list" : ` Did you mean ${near}?`}`,
  );
}

const toJson = (key: Omit<ApiKeyRecord, "lastUsedAt" | "revokedAt"> & Partial<ApiKeyRecord>) => ({
  id: key.id,
  name: key.name,
  owner: key.owner,
  last_four: key.lastFour,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt ?? null,
  revoked_at: key.revokedAt ?? null,
  ...serializeKeyArea(key),
});

const toListed = (key: ApiKeyWithOwner, now: number) => ({ ...toJson(key), state: apiKeyState(key, now) });

const usageError = (message: string): CommandError => new CommandError(message, EXIT.usage);

function checkName(name: string): string {
  const { success, error } = ApiKeyName.safeParse(name);
  if (success) return name;
  const issues = issuesOf(error, ApiKeyName).map((issue) => issueLine({ ...issue, path: "--name" }));
  throw usageError(issues.join("\n"));
}

function checkScope(scope: string): Scope {
  const parsed = Scope.safeParse(scope);
  if (parsed.success) return parsed.data;
  const near = nearMatch(scope, Scope.options);
  throw usageError(
    `--scope must be one of ${Scope.options.join(", ")}, got ${scope}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
  );
}

function checkExpiry(text: string): string {
  const expiresAt = parseExpiry(text);
  if (expiresAt === undefined)
    throw usageError(
      `--expires must be a date, got ${text}. Write 2027-01-31 (until the end of that day, UTC) or 2027-01-31T12:00:00Z.`,
    );
  if (Date.parse(expiresAt) <= systemClock.now())
    throw usageError(`--expires must be in the future, got ${text}.`);
  return expiresAt;
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw usageError(
      `--overlap must be a duration, got ${text}. Write 30m, 24h or 7d, or 0s to end the old key at once.`,
    );
  return Number(amount) * UNITS[unit]!;
}
