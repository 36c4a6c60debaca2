/** Finds the items of a fan-out of the past by their inputs: where its list has changed, the same item has another number. */
import { LRUCache } from "lru-cache";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { StepRecord, StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import type { Attempt } from "./attempt.ts";
import { MAX_OUTPUT_CHARS } from "./step-values.ts";

/** Number of items that are read at a time; and of those that are found. */
const PAGE = 500;
const MAX_FOUND = 1_000;
/** Maximum number of fan-outs whose items are in memory. The replays of a backtest read few at a time. */
const MAX_CACHED = 16;

interface PastItem {
  ref: StepRef;
  record: StepRecord;
}

export interface PastItems {
  /** An item of the past that had the input of an attempt; undefined if none of the first 1,000 had. */
  find(step: Pick<StepRef, "runId" | "stepId">, attempt: Attempt): Promise<PastItem | undefined>;
}

/** The input of what did not succeed has no hash in its record, but is stored. */
export async function pastInput(
  runs: Pick<RunReader, "valueText">,
  ref: StepRef,
  { attempts }: Pick<StepRecord, "attempts">,
): Promise<unknown> {
  const range = { from: 0, chars: MAX_OUTPUT_CHARS };
  const stored = await runs.valueText({ ...ref, what: "attempt_input", attempt: attempts }, range);
  return stored === undefined || stored.chars > stored.text.length ? undefined : JSON.parse(stored.text);
}

const keyOfInput = (input: unknown): string => `input ${shortHash(canonicalJson(input))}`;

/** Each fan-out is read once, however many items ask. Runs of the past don't change. */
export function pastItems(runs: Pick<RunReader, "items" | "valueText">): PastItems {
  const cache = new LRUCache<string, Promise<ReadonlyMap<string, PastItem>>>({ max: MAX_CACHED });

  async function read({ runId, stepId }: Pick<StepRef, "runId" | "stepId">) {
    const found = new Map<string, PastItem>();
    for (let from = 0; from < MAX_FOUND; from += PAGE) {
      const records = await runs.items({ runId, stepId }, from, PAGE);
      for (const record of records) {
        const ref: StepRef = { runId, stepId, item: record.item };
        const key = await keyOf(ref, record);
        if (key !== undefined && !found.has(key)) found.set(key, { ref, record });
      }
      if (records.length < PAGE) break;
    }
    return found;
  }

  async function keyOf(ref: StepRef, record: StepRecord): Promise<string | undefined> {
    if (record.state === "succeeded") return record.inputHash ?? undefined;
    if (record.state === "skipped") return undefined;
    const input = await pastInput(runs, ref, record);
    return input === undefined ? undefined : keyOfInput(input);
  }

  return {
    async find(step, { inputHash, input }) {
      const key = `${step.runId} ${step.stepId}`;
      const items = cache.get(key) ?? read(step);
      cache.set(key, items);
      items.catch(() => cache.delete(key));
      const found = await items;
      return found.get(inputHash!) ?? found.get(keyOfInput(input));
    },
  };
}
