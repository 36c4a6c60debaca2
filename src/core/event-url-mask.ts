/**
 * Hides event URLs from callers who can see a run but may not run things in its project. Such a URL acts, and steps put it
 * wherever their authors want it, so it is hidden in whatever a caller reads, by the token that it ends with.
 */
import { type Access, scopesIn } from "./access.ts";
import { AppError } from "./errors.ts";
import { EVENT_TOKENS, MAX_EVENT_TOKEN } from "./event-tokens.ts";
import { hasText, mapTexts } from "./map-texts.ts";
import type { RunReader } from "./run-ports.ts";

/** Replaces the MAC of the tokens in the texts of a value. Their length stays, so that offsets into values do. */
export type EventUrlMask = <T>(value: T) => Promise<T>;

/** How every token begins. */
const RUN_ID_PREFIX = "run_";
/** Maximum number of runs that are looked up for a caller. The tokens of further runs are hidden. */
const MAX_RUNS = 100;

/** Whether a caller sees the event URLs of the runs of a project. */
export const seesEventUrls = (access: Access, project: string): boolean =>
  scopesIn(access, project).has("run");

/** @returns undefined for a caller who may run things in every project */
export function eventUrlMask(runs: Pick<RunReader, "find">, access: Access): EventUrlMask | undefined {
  if (access.everywhere?.has("run") === true) return undefined;
  const found = new Map<string, Promise<boolean | undefined>>();
  /**
   * The run may be one that the caller can't read, such as that which passed the URL on.
   * @returns undefined if there is no such run
   */
  const sees = (runId: string): Promise<boolean | undefined> => {
    const known = found.get(runId);
    if (known !== undefined) return known;
    if (found.size >= MAX_RUNS) return Promise.resolve(false);
    const result = runs.find(runId).then((run) => run && seesEventUrls(access, run.project));
    found.set(runId, result);
    return result;
  };
  return async <T>(value: T) => {
    const ids = new Set<string>();
    // Most values hold no token, so they are searched before they are copied.
    hasText(value, (text) => {
      if (text.includes(RUN_ID_PREFIX))
        for (const { groups } of text.matchAll(EVENT_TOKENS)) ids.add(groups!["runId"]!);
      return false;
    });
    if (ids.size === 0) return value;
    const seen = new Map<string, boolean | undefined>();
    for (const id of ids) seen.set(id, await sees(id));
    return mapTexts(value, (text) =>
      text.replace(EVENT_TOKENS, (token, ...rest: unknown[]) => {
        const { runId, mac, cutMac } = rest.at(-1) as { runId: string; mac?: string; cutMac?: string };
        // A cut MAC of no run is other text: a path such as steps.run_tests.output.failed_tests.
        const isShown = mac === undefined ? seen.get(runId) !== false : seen.get(runId) === true;
        const { length } = (mac ?? cutMac)!;
        return isShown ? token : token.slice(0, -length) + "*".repeat(length);
      }),
    ) as T;
  };
}

/** Hides the event URLs in a value; returns the value itself for a caller without a mask. */
export const maskValue = async <T>(value: T, mask: EventUrlMask | undefined): Promise<T> =>
  mask === undefined ? value : mask(value);

/** Hides the event URLs in parts of a text: a token that begins or ends outside of it is hidden too. */
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

/** The same in the values of a scan: a caller who compares them with texts could find out a URL character by character. */
export const maskedScan =
  (scan: RunReader["scan"], mask: EventUrlMask): RunReader["scan"] =>
  async (query) => {
    const page = await scan(query);
    return { ...page, items: await mask(page.items) };
  };

/** The same for an error, which may quote values. */
export async function maskError(error: unknown, mask: EventUrlMask | undefined): Promise<unknown> {
  if (!(error instanceof AppError)) return error;
  const message = await maskValue(error.message, mask);
  const details = await maskValue(error.details, mask);
  if (message === error.message && details === error.details) return error;
  return new AppError(error.code, message, { ...details, cause: error.cause });
}
