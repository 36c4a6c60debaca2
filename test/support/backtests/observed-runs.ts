/** Runs generated workflows for real, with a peer that says what each run asked it. */
import { canonicalJson } from "../../../src/core/canonical-json.ts";
import type { StepRef } from "../../../src/core/model.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { ancestorsOf, graphOf } from "../../../src/engine/definition/graph.ts";
import type { TestEngine } from "../engine.ts";
import type { OneAtATime } from "./one-at-a-time.ts";
import type { Inputs } from "./workflows.ts";

/** What others see of a run, with its id and times replaced. */
export interface ObservedRun {
  id: string;
  status: string;
  error: { code: string; step: string | undefined } | null;
  output: string;
  steps: Readonly<Record<string, ObservedStep>>;
}

interface ObservedStep {
  state: string;
  /** The inputs with which it called the peer, sorted. */
  calls: readonly string[];
  /** Whether it is a fan-out that failed before all of its items had run: which had begun by then is chance. */
  lacksItems: boolean;
  /** Whether it waits for a step that failed, so that it can't have run. */
  isBlocked: boolean;
}

/** Makes the probes call a peer, whose answers and failures depend on the input alone, and come one at a time. */
export function countingPeer({ onProbe }: Pick<TestEngine, "onProbe">, { hold }: OneAtATime) {
  const calls = new Map<string, string[]>();
  const peer = {
    /** Number of calls. */
    count: 0,
    callsOf: (run: string, step: string): string[] => calls.get(`${run}:${step}`) ?? [],
  };

  onProbe(async (ask, { idempotencyKey }) => {
    const [runId, stepId, item] = idempotencyKey.split(":") as [string, string, string];
    const key = `${runId}:${stepId}`;
    peer.count += 1;
    calls.set(key, [...(calls.get(key) ?? []), canonicalJson(ask)]);
    const { n } = ask as { n: number };
    const fails = ((n % 7) + 7) % 7 === 3;
    await hold(fails ? "failure" : "answer", { runId, stepId, item: item === "-" ? null : Number(item) });
    if (fails) throw new StepError("step_failed", `The peer refuses ${n}.`, { transient: false });
    return (Math.abs(n) * 3 + 1) % 8;
  });

  return peer;
}

type Peer = ReturnType<typeof countingPeer>;

/** Runs a definition for real with each of the inputs, all at the same time. @returns the ids of the runs */
export async function runForReal(
  engine: TestEngine,
  queue: { wake(): void; waitUntilIdle(): Promise<void> },
  { workflowId, definition }: { workflowId: string; definition: Record<string, unknown> },
  inputs: readonly Inputs[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const given of inputs) {
    ids.push(await engine.start(workflowId, { definition, inputs: { ...given } }));
    // No two runs have the same time, and some wait for an executor.
    engine.clock.advance(1_000);
  }
  queue.wake();
  await queue.waitUntilIdle();
  return ids;
}

export async function observe(
  engine: TestEngine,
  peer: Peer,
  id: string,
  definition: Record<string, unknown>,
): Promise<ObservedRun> {
  const run = await engine.find(id);
  const steps = definition["steps"] as { id: string; needs?: string[]; for_each?: string }[];
  const graph = graphOf(steps);
  const failed = run.stepStates.positionsOf("failed");
  const anonymous = (text: string): string =>
    text
      .replaceAll(id, "RUN")
      .replaceAll(run.createdAt, "TIME")
      .replaceAll(run.startedAt ?? run.createdAt, "TIME");
  const observed: [string, ObservedStep][] = [];
  for (const [position, step] of steps.entries()) {
    const mayLackItems = step.for_each !== undefined && failed.includes(position);
    observed.push([
      step.id,
      {
        state: run.stepStates.at(position),
        calls: peer.callsOf(id, step.id).map(anonymous).toSorted(),
        lacksItems: mayLackItems && !(await ranAllItems(engine, { runId: id, stepId: step.id })),
        isBlocked: failed.some((at) => ancestorsOf(graph, position).has(at)),
      },
    ]);
  }
  return {
    id,
    status: run.status,
    error: run.error && { code: run.error.code, step: run.error.step_id },
    output: anonymous(canonicalJson((await engine.read.runs.runOutput(id)) ?? null)),
    steps: Object.fromEntries(observed),
  };
}

/** Whether each item of a fan-out ran to its end; true for one that failed before it had a list. */
async function ranAllItems(
  { read: { runs } }: Pick<TestEngine, "read">,
  step: Pick<StepRef, "runId" | "stepId">,
): Promise<boolean> {
  const total = (await runs.step({ ...step, item: null }))?.items?.total ?? 0;
  const items = await runs.items(step, 0, total + 1);
  return items.filter(({ state }) => ["succeeded", "failed"].includes(state)).length === total;
}

/** `unknown`: how far other steps came before one failed is chance, and what they did says no more. */
export type Truth = "same" | "different" | "unknown";

/** Compares what two runs did, with the same inputs and other definitions. */
export function compareObserved(before: ObservedRun, after: ObservedRun): Truth {
  if (before.status !== after.status) return "different";
  if (before.status === "succeeded" && before.output !== after.output) return "different";
  const ids = new Set([...Object.keys(before.steps), ...Object.keys(after.steps)]);
  const truths = [...ids].map((id) => compareCalls(before.steps[id], after.steps[id]));
  if (before.status === "failed") truths.push(compareErrors(before, after));
  if (truths.includes("different")) return "different";
  return truths.includes("unknown") ? "unknown" : "same";
}

/** Whether a step might have called the peer more often, if another one had failed later. */
const wasCut = (step: ObservedStep | undefined): boolean =>
  step !== undefined &&
  (step.lacksItems || (["pending", "cancelled"].includes(step.state) && !step.isBlocked));

function compareCalls(before: ObservedStep | undefined, after: ObservedStep | undefined): Truth {
  if (wasCut(before) || wasCut(after)) return "unknown";
  return canonicalJson(before?.calls ?? []) === canonicalJson(after?.calls ?? []) ? "same" : "different";
}

function compareErrors(before: ObservedRun, after: ObservedRun): Truth {
  if (canonicalJson(before.error) === canonicalJson(after.error)) return "same";
  return mayFail(before, after.error) && mayFail(after, before.error) ? "unknown" : "different";
}

/** Whether a run might have failed with the error of another one, if its own had come later. */
function mayFail({ steps }: ObservedRun, error: ObservedRun["error"]): boolean {
  const step = steps[error?.step ?? ""];
  return step !== undefined && (wasCut(step) || step.state === "failed");
}
