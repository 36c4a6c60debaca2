/** Finds the runs that contain words, or for which a condition is true, by reading those of a filter. */
import { foldText, searchTerms } from "../../schemas/fold-text.ts";
import type { ListPosition, RunFilter } from "../../src/core/model.ts";
import { nextTurnIfUsedUp } from "../../src/core/next-turn.ts";
import type { WorkflowReader } from "../../src/core/ports.ts";
import type { RunExpression } from "../../src/core/run-expressions.ts";
import type { ScannedRun, ScannedValue } from "../../src/core/run-ports.ts";
import { runEvaluator, valuesReadBy } from "./evaluate-run.ts";
import { addRead, isUsedUp, newBudget, type ScanContext, scanInParts } from "./scan-runs.ts";

/** Maximum number of runs that a page of a search reads. */
const MAX_SEARCHED_RUNS = 5_000;
const PART = 100;

export interface RunSearch {
  /** Each has to be in the id, the workflow, the error, the inputs or the output of a run. */
  search: string | undefined;
  where: RunExpression | undefined;
}

export interface MatchingRuns {
  /** Newest first. */
  ids: string[];
  /** Where the runs begin that were not read; null if all were. */
  next: ListPosition | null;
}

/**
 * @param names finds the names of workflows
 * @param from.after where to begin; null at the newest run
 * @param from.limit maximum number of runs that are returned
 */
export async function matchingRuns(
  context: ScanContext,
  names: Pick<WorkflowReader, "find">,
  filter: RunFilter,
  { search, where }: RunSearch,
  { after, limit, max = MAX_SEARCHED_RUNS }: { after: ListPosition | null; limit: number; max?: number },
): Promise<MatchingRuns> {
  const terms = searchTerms(search ?? "");
  const values = withSearched(where === undefined ? [] : valuesReadBy([where]), terms);
  const budget = newBudget(max);
  const contains = searchOf(terms, names, values);
  const ids: string[] = [];
  let next = after;
  for await (const page of scanInParts(context, { filter, after, values, part: PART })) {
    for (const run of page.items) {
      if (isUsedUp(budget) || ids.length === limit) return { ids, next };
      await nextTurnIfUsedUp();
      addRead(budget, run);
      if ((await contains(run)) && isTrue(run)) ids.push(run.id);
      next = [run.createdAt, run.id];
    }
    if (page.next === null) return { ids, next: null };
  }
  return { ids, next };

  function isTrue(run: ScannedRun): boolean {
    if (where === undefined) return true;
    const result = runEvaluator(run, values)(where);
    budget.work += result.cost;
    return "value" in result && result.value === true;
  }
}

const SEARCHED: readonly ScannedValue[] = [{ what: "inputs" }, { what: "output" }];

/** The values that are read: also those that are searched. */
const withSearched = (values: readonly ScannedValue[], terms: readonly string[]): ScannedValue[] => [
  ...values,
  ...(terms.length === 0 ? [] : SEARCHED.filter(({ what }) => values.every((value) => value.what !== what))),
];

/** Creates the function that says whether a run contains all terms. The name of each workflow is read once. */
function searchOf(
  terms: readonly string[],
  names: Pick<WorkflowReader, "find">,
  values: readonly ScannedValue[],
): (run: ScannedRun) => Promise<boolean> | true {
  if (terms.length === 0) return () => true;
  const searched = SEARCHED.map(({ what }) => values.findIndex((value) => value.what === what));
  const found = new Map<string, Promise<string>>();
  const nameOf = (id: string): Promise<string> => {
    const name = found.get(id) ?? names.find(id).then((workflow) => workflow?.name ?? "");
    found.set(id, name);
    return name;
  };
  return async (run) => {
    const { id, workflowId, error } = run;
    const name = workflowId === null ? "" : await nameOf(workflowId);
    const texts = [id, workflowId ?? "", name, error?.code ?? "", error?.message ?? ""].concat(
      searched.map((index) => withoutNames(run.values[index]?.text ?? "")),
    );
    const folded = foldText(texts.join("\n"));
    return terms.every((term) => folded.includes(term) || folded.includes(inJson(term)));
  };
}

/** JSON without the names of its fields: every run of a workflow has the same ones. */
const withoutNames = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"(:?)/g, (text, colon) => (colon === "" ? text : ""));

/** A term as the JSON of a value has it. */
const inJson = (term: string): string => JSON.stringify(term).slice(1, -1);
