/**
 * Hides event URLs from callers who can see a run but may not run things in its project. Such a URL acts, and steps put it
 * wherever their authors want it, so it is hidden in whatever a caller reads, by the token that it ends with.
 */
import { type Access, scopesIn } from "./access.ts";
import { EVENT_TOKENS, MAX_EVENT_TOKEN } from "./event-tokens.ts";
import type { RunReader } from "./run-ports.ts";

/** Replaces the MAC of the tokens in a JSON text. The length stays, so that offsets into values do. */
export type EventUrlMask = (text: string) => Promise<string>;

/** Whether a caller sees the event URLs of the runs of a project. */
export const seesEventUrls = (access: Access, project: string): boolean =>
  scopesIn(access, project).has("run");

/** @returns undefined for a caller who may run things in every project */
export function eventUrlMask(runs: Pick<RunReader, "find">, access: Access): EventUrlMask | undefined {
  if (access.everywhere?.has("run") === true) return undefined;
  const seen = new Map<string, boolean>();
  /** The run may be one that the caller can't read, such as that which passed the URL on. */
  const sees = async (runId: string): Promise<boolean> => {
    const known = seen.get(runId);
    if (known !== undefined) return known;
    const run = await runs.find(runId);
    const can = run !== undefined && seesEventUrls(access, run.project);
    seen.set(runId, can);
    return can;
  };
  return async (text) => {
    const hidden = new Set<string>();
    for (const { groups } of text.matchAll(EVENT_TOKENS))
      if (!(await sees(groups!["runId"]!))) hidden.add(groups!["runId"]!);
    if (hidden.size === 0) return text;
    return text.replace(EVENT_TOKENS, (token, ...rest: unknown[]) => {
      const { runId, mac } = rest.at(-1) as { runId: string; mac: string };
      return hidden.has(runId) ? token.slice(0, -mac.length) + "*".repeat(mac.length) : token;
    });
  };
}

/** The same for a value of JSON. */
export async function maskValue<T>(value: T, mask: EventUrlMask | undefined): Promise<T> {
  if (mask === undefined || value === undefined) return value;
  const text = JSON.stringify(value);
  const masked = await mask(text);
  return masked === text ? value : (JSON.parse(masked) as T);
}

/** The same for a part of a text: a token that begins or ends outside of it is hidden too. */
export const maskedPart =
  (valueText: RunReader["valueText"], mask: EventUrlMask): RunReader["valueText"] =>
  async (at, { from, chars }) => {
    const value = await valueText(at, { from, chars });
    if (value === undefined) return undefined;
    // Stores may count characters otherwise than strings do, so each part is read as it is.
    const partOf = async (begin: number, end: number): Promise<string> =>
      begin >= Math.min(end, value.chars)
        ? ""
        : ((await valueText(at, { from: begin, chars: end - begin }))?.text ?? "");
    const before = await partOf(Math.max(0, from - MAX_EVENT_TOKEN), from);
    const after = await partOf(from + chars, from + chars + MAX_EVENT_TOKEN);
    const text = await mask(before + value.text + after);
    return { ...value, text: text.slice(before.length, before.length + value.text.length) };
  };
