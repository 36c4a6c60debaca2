/** Compares the effects of a run with those that its replay would have. */
import type { BacktestEffect } from "../../../../schemas/backtest.ts";
import type { Difference } from "../../../../schemas/difference.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { differenceName, normalName } from "../../../../schemas/difference-names.ts";
import type { StepDefinition } from "../../../../schemas/workflow-definition.ts";
import type { RunReader } from "../../../core/run-ports.ts";
import { ancestorsOf } from "../../definition/graph.ts";
import { isReplayFailure } from "../replay.ts";
import {
  type Execution,
  executionsOf,
  hasEffect,
  inputOf,
  plannedStep,
  type Recorded,
} from "./executions.ts";
import { compareValues } from "./show-differences.ts";

/** Maximum number of changed executions of a step whose inputs are compared; of more, all of the step differs. */
const MAX_COMPARED = 100;

interface Effects {
  effects: BacktestEffect[];
  /** The names of what differs (schemas/difference-names.ts). */
  names: string[];
  /** Whether the replay ended before it came to effects that the run had, and these may differ now. */
  areUnknown: boolean;
}

/** @param endedAlike whether both failed in the same way: how far other steps came before that is chance */
export async function compareEffects(
  runs: RunReader,
  before: Recorded,
  after: Recorded,
  { endedAlike }: { endedAlike: boolean },
): Promise<Effects> {
  const ids = [...new Set([...idsOf(after), ...idsOf(before)])];
  const effects: BacktestEffect[] = [];
  const names: string[] = [];
  let areUnknown = false;
  for (const id of ids) {
    const left = await executed(runs, before, id);
    const right = await executed(runs, after, id);
    const unchanged = takeEqual(left, right);
    const wasCut = endedAlike && (isCut(before, id) || isCut(after, id));
    const isChance =
      wasCut && isBlocked(before, id) === isBlocked(after, id) && hasSameSource(before, after, id);
    if (wasCut && !isChance) areUnknown = true;
    const cut = isChance ? left.length : 0;
    const changed = isChance ? 0 : Math.min(left.length, right.length);
    const removed = left.length - changed - cut;
    const added = isChance ? 0 : right.length - changed;
    const { type } = (plannedStep(after, id) ?? plannedStep(before, id))!.step;
    if (unchanged + cut + changed + removed + added === 0) continue;
    const pairs = left.slice(0, changed).map((was, index) => [was, right[index]!] as const);
    const changes = await compareInputs(runs, id, pairs);
    names.push(...changes.names);
    if (added > 0) names.push(differenceName(["steps", id, "added"]));
    if (removed > 0) names.push(differenceName(["steps", id, "removed"]));
    effects.push({
      step: id,
      type,
      unchanged: unchanged + cut,
      changed,
      added,
      removed,
      ...(changed > 0 && { first: { run_id: before.run.id, differences: changes.first } }),
    });
  }
  return { effects, names, areUnknown };
}

const idsOf = (recorded: Recorded): string[] =>
  recorded.plan.steps.filter(hasEffect).map(({ step }) => step.id);

/** An execution with what makes it equal to others. */
interface Keyed extends Execution {
  key: string;
}

/** The executions of a step that did something, or would have. */
async function executed(runs: RunReader, recorded: Recorded, id: string): Promise<Keyed[]> {
  const planned = plannedStep(recorded, id);
  if (planned === undefined || !hasEffect(planned)) return [];
  const found: Keyed[] = [];
  for await (const execution of executionsOf(runs, recorded, id)) {
    const { state, inputHash, error, attempts } = execution.record;
    if (state === "succeeded") found.push({ ...execution, key: `${planned.step.type} ${inputHash}` });
    else if (error !== null && isReplayFailure(error, "new_step")) found.push({ ...execution, key: "new" });
    else if (error !== null && attempts > 0 && !isReplayFailure(error)) {
      const input = await inputOf(runs, execution);
      // Without an input it failed before its effect.
      if (input !== undefined)
        found.push({ ...execution, key: `failed ${error.code} ${canonicalJson(input)}` });
    }
  }
  return found;
}

/** Removes from both lists what they have in common. @returns the number of pairs */
function takeEqual(left: Keyed[], right: Keyed[]): number {
  const waiting = new Map<string, number>();
  for (const { key } of right) waiting.set(key, (waiting.get(key) ?? 0) + 1);
  const taken = new Map<string, number>();
  const rest = left.filter(({ key }) => {
    const count = waiting.get(key) ?? 0;
    if (count === 0) return true;
    waiting.set(key, count - 1);
    taken.set(key, (taken.get(key) ?? 0) + 1);
    return false;
  });
  const pairs = left.length - rest.length;
  const others = right.filter(({ key }) => {
    const count = taken.get(key) ?? 0;
    taken.set(key, count - 1);
    return count <= 0;
  });
  left.splice(0, left.length, ...rest);
  right.splice(0, right.length, ...others);
  return pairs;
}

/**
 * Whether it is chance that a step did not run to its end in a run that failed: it does not follow the step that failed, or other
 * items of it failed first.
 */
function isCut({ run, plan: { compiled } }: Recorded, id: string): boolean {
  const position = compiled.position.get(id);
  if (position === undefined) return false;
  const state = run.stepStates.at(position);
  if (["succeeded", "skipped", "failed_continued"].includes(state)) return false;
  if (state === "failed") return compiled.definition.steps[position]!.for_each !== undefined;
  return !followsFailure(run, compiled, position);
}

/** Whether a step could not run in a run that failed, because it follows the step that failed. */
function isBlocked({ run, plan: { compiled } }: Recorded, id: string): boolean {
  const position = compiled.position.get(id);
  if (position === undefined || !["pending", "cancelled"].includes(run.stepStates.at(position))) return false;
  return followsFailure(run, compiled, position);
}

function followsFailure(
  { stepStates }: Recorded["run"],
  { graph }: Recorded["plan"]["compiled"],
  position: number,
): boolean {
  const before = ancestorsOf(graph, position);
  return stepStates.positionsOf("failed").some((failed) => before.has(failed));
}

/** Whether a step, and all steps that its input is made of, are the same in both definitions. */
export function hasSameSource(before: Recorded, after: Recorded, stepId: string): boolean {
  const seen = new Set<string>();
  const queue = [stepId];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const [was, is] = [plannedStep(before, id), plannedStep(after, id)];
    if (was === undefined || is === undefined || !isSameStep(was.step, is.step)) return false;
    queue.push(...is.conditionReads, ...is.fieldReads, ...(is.repeat?.nextReads ?? []));
  }
  return true;
}

const isSameStep = (was: StepDefinition, is: StepDefinition): boolean =>
  canonicalJson(was) === canonicalJson(is);

/** @param pairs executions of the step in the run and in the replay */
async function compareInputs(
  runs: RunReader,
  id: string,
  pairs: readonly (readonly [Execution, Execution])[],
): Promise<{ first: Difference[]; names: string[] }> {
  const names = new Set<string>(pairs.length > MAX_COMPARED ? [differenceName(["steps", id])] : []);
  let first: Difference[] = [];
  for (const [index, [left, right]] of pairs.slice(0, MAX_COMPARED).entries()) {
    const { item } = left.ref;
    const path = ["steps", id, ...(item === null ? [] : ["items", item]), "input"];
    const { shown, names: found } = compareValues(
      path,
      await inputOf(runs, left),
      await inputOf(runs, right),
    );
    if (index === 0) first = shown;
    // Other inputs that read the same: the step calls something else, or is of another type.
    for (const name of found.length === 0 ? [differenceName(["steps", id])] : found)
      names.add(normalName(name));
  }
  return { first, names: [...names] };
}
