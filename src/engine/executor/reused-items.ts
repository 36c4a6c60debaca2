/** The plan of a retry for the items of a fan-out: which of their outputs it reuses. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { StepRecord, StepRef } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { type DecisionsHold, findRecorded } from "./recorded-output.ts";

interface Readers {
  runs: Pick<RunReader, "find" | "step" | "items" | "inputs">;
  decisionsHold: DecisionsHold;
}

/** A fan-out of a run that is retried, whose list is the same in the retry. */
interface RetriedFanOut {
  step: StepDefinition;
  /** Number of its items. */
  total: number;
  /** The retried run, and earlier ones in which the inputs of its items were the same, newest first. */
  sameInput: readonly string[];
}

/** Maximum number of items that are looked at; and where decisions are read for each, which takes queries. */
const MAX_ITEMS = 10_000;
const MAX_DECIDED = 200;
/** Number of items that are read at a time. */
const PAGE = 500;

/** Reads the records of items in their order, many at a time. */
function itemReader(runs: Pick<RunReader, "step" | "items">): Pick<RunReader, "step"> {
  const pages = new Map<string, { from: number; records: Map<number, StepRecord> }>();
  return {
    async step(ref: StepRef) {
      const { runId, stepId, item } = ref;
      if (item === null) return runs.step(ref);
      const key = `${runId} ${stepId}`;
      const from = item - (item % PAGE);
      let page = pages.get(key);
      if (page?.from !== from) {
        const records = await runs.items({ runId, stepId }, from, PAGE);
        page = { from, records: new Map(records.map((record) => [record.item!, record])) };
        pages.set(key, page);
      }
      return page.records.get(item);
    },
  };
}

/** @returns the numbers of the items that run; the outputs of the others are reused. Undefined if there are too many. */
export async function itemsToRun(
  { runs, decisionsHold }: Readers,
  type: AnyStepType,
  retry: PreparedRun,
  { step, total, sameInput }: RetriedFanOut,
): Promise<number[] | undefined> {
  if (total > (type.mayRestOnDecision === true ? MAX_DECIDED : MAX_ITEMS)) return undefined;
  const { step: readStep } = itemReader(runs);
  // Each item searches all runs that are retried.
  const known = new Map<string, ReturnType<RunReader["find"]>>();
  const find: RunReader["find"] = (id) => {
    const run = known.get(id) ?? runs.find(id);
    known.set(id, run);
    return run;
  };
  const readers = {
    runs: { find, step: readStep, inputs: (id: string) => runs.inputs(id) },
    decisionsHold,
  };
  /** The hash of the input that the item will have; undefined where no run recorded it. */
  const hashOf = async (item: number): Promise<string | undefined> => {
    for (const runId of sameInput) {
      const record = await readStep({ runId, stepId: step.id, item });
      if (record?.state === "succeeded") return record.inputHash ?? undefined;
      // With the same input this run would have reused the output of an earlier one.
      if (record?.state === "failed" || record?.state === "failed_continued") return undefined;
    }
    return undefined;
  };
  const planned = { step, type, repeat: null };
  const toRun: number[] = [];
  for (let item = 0; item < total; item += 1) {
    const hash = await hashOf(item);
    const found = hash && (await findRecorded(readers, { run: retry, planned, item }, hash));
    if (!found) toRun.push(item);
  }
  return toRun;
}
