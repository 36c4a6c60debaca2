/** Runs generated workflows for real, with a peer that says what each run asked it. */
import { setImmediate } from "node:timers/promises";
import { canonicalJson } from "../../../src/core/canonical-json.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { ancestorsOf, graphOf } from "../../../src/engine/definition/graph.ts";
import type { TestEngine } from "../engine.ts";
import type { Inputs } from "./workflows.ts";

/** What others see of a run, with its id and times replaced. */
interface ObservedRun {
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
  /** Whether it is a fan-out that failed, and that another failure may have cut before. */
  mayLackItems: boolean;
  /** Whether it waits for a step that failed, so that it can't have run. */
  isBlocked: boolean;
}

/** When the peer answers: at once, after a few turns of the event loop, or failures as late as possible. */
export type Pace = "at once" | "mixed" | "failures last";

/** For how many turns of the event loop nobody calls the peer before it fails late. */
const QUIET_TURNS = 15;

/** Makes the probes call a peer, whose answers and failures depend on the input alone. */
export function countingPeer({ onProbe }: Pick<TestEngine, "onProbe">) {
  const calls = new Map<string, string[]>();
  const peer = {
    /** Number of calls. */
    count: 0,
    pace: "at once" as Pace,
    callsOf: (run: string, step: string): string[] => calls.get(`${run}:${step}`) ?? [],
  };

  onProbe(async (ask, { idempotencyKey }) => {
    const [run, step] = idempotencyKey.split(":");
    const key = `${run}:${step}`;
    peer.count += 1;
    calls.set(key, [...(calls.get(key) ?? []), canonicalJson(ask)]);
    const { n } = ask as { n: number };
    const fails = ((n % 7) + 7) % 7 === 3;
    if (peer.pace === "mixed") await turns(Math.abs(n * 5) % 9);
    if (peer.pace === "failures last" && fails) await quiet();
    if (fails) throw new StepError("step_failed", `The peer refuses ${n}.`, { transient: false });
    return (Math.abs(n) * 3 + 1) % 8;
  });

  async function quiet(): Promise<void> {
    for (let before = -1; before !== peer.count;) {
      before = peer.count;
      await turns(QUIET_TURNS);
    }
  }

  return peer;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
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
  const observed = steps.map((step, position): [string, ObservedStep] => [
    step.id,
    {
      state: run.stepStates.at(position),
      calls: peer.callsOf(id, step.id).map(anonymous).toSorted(),
      mayLackItems: step.for_each !== undefined && failed.length > 1 && failed.includes(position),
      isBlocked: failed.some((at) => ancestorsOf(graph, position).has(at)),
    },
  ]);
  return {
    id,
    status: run.status,
    error: run.error && { code: run.error.code, step: run.error.step_id },
    output: anonymous(canonicalJson((await engine.read.runs.runOutput(id)) ?? null)),
    steps: Object.fromEntries(observed),
  };
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
  (step.mayLackItems || (["pending", "cancelled"].includes(step.state) && !step.isBlocked));

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
