/**
 * What an approval is bound to, for one run: a digest of everything that can still run in it and of what it uses of the
 * configuration, followed by a short hash of each setting. The digest decides; the hashes say what has changed.
 */
import { canonicalJson } from "./canonical-json.ts";
import { shortHash } from "./short-hash.ts";

/** What can still run in one run. */
export interface LevelContent {
  /** The workflow, the version or the definition of the run, and the step after which it continues. */
  work: readonly unknown[];
  /** The versions of the workflows that it can call, by id; null for one that does not exist. */
  calls: Readonly<Record<string, number | null>>;
  /** The settings of what it uses, by use; null for what is not configured. */
  uses: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;
}

/** What is stored of it. */
export interface StoredLevel {
  calls: Readonly<Record<string, number | null>>;
  uses: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
}

/** Length of the hash of a setting: it only has to tell two values of one setting apart. */
const SETTING_HASH_CHARS = 8;

export function formatLevel({ work, calls, uses }: LevelContent): string {
  const stored: StoredLevel = {
    calls,
    uses: Object.fromEntries(
      Object.entries(uses).map(([use, settings]) => [use, settings && hashed(settings)]),
    ),
  };
  return `${shortHash(canonicalJson([work, calls, uses]))}:${canonicalJson(stored)}`;
}

const hashed = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, shortHash(canonicalJson(value)).slice(0, SETTING_HASH_CHARS)]),
  );

/** @returns undefined for a level of an older release, which is only a digest */
export function readLevel(level: string): StoredLevel | undefined {
  const start = level.indexOf(":");
  return start === -1 ? undefined : (JSON.parse(level.slice(start + 1)) as StoredLevel);
}

/** What differs between what is stored and what holds now. */
export interface LevelChanges {
  calls: { id: string; before: number | null; now: number | null }[];
  /** With the names of the settings that differ; null before or now for what is not configured. */
  uses: { use: string; settings: string[]; before: boolean; now: boolean }[];
}

const keysOf = (one: object, other: object): string[] => [
  ...new Set([...Object.keys(one), ...Object.keys(other)]),
];

export function compareLevels(before: StoredLevel, now: StoredLevel): LevelChanges {
  return {
    calls: keysOf(before.calls, now.calls).flatMap((id) => {
      const versions = { before: before.calls[id] ?? null, now: now.calls[id] ?? null };
      return versions.before === versions.now ? [] : [{ id, ...versions }];
    }),
    uses: keysOf(before.uses, now.uses).flatMap((use) => {
      const [old, current] = [before.uses[use] ?? null, now.uses[use] ?? null];
      const settings = keysOf(old ?? {}, current ?? {}).filter((name) => old?.[name] !== current?.[name]);
      const isSame = settings.length === 0 && (old === null) === (current === null);
      return isSame ? [] : [{ use, settings, before: old !== null, now: current !== null }];
    }),
  };
}
