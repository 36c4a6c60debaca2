/** What a task may use to judge an outcome: it runs published workflows with other inputs, and decides approvals. */
import assert from "node:assert/strict";
import type { Run } from "../../schemas/run.ts";
import { iso } from "../../src/core/clock.ts";
import type { Millrace } from "./millrace.ts";

interface WorkflowRow {
  id: string;
  name: string;
  published_version: number | null;
}

/** How often the clock may jump to what is due next, until a run has ended. */
const MAX_ROUNDS = 500;

export interface Judge {
  millrace: Millrace;
  /** Saves and publishes a workflow, for the state that an agent finds. @returns its id */
  publish(name: string, description: string, definition: object): Promise<string>;
  /** The id of the published workflow of this name. */
  published(name: string): Promise<string>;
  /** Runs the published version to its end, however long it waits; decides its approvals as given. */
  run(id: string, inputs?: object, decision?: "approve" | "decline"): Promise<Run>;
  /** The output of a run that must succeed. */
  output(id: string, inputs?: object, decision?: "approve" | "decline"): Promise<unknown>;
  /** Lets everything that is due now happen. */
  settle(): Promise<void>;
}

export function judgeOf(millrace: Millrace): Judge {
  const { operate, executor, clock, instance } = millrace;
  const settle = async (): Promise<void> => {
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
  };

  /** Decides what waits for a decision. @returns whether something waited */
  async function decide(runId: string, decision: "approve" | "decline"): Promise<boolean> {
    const { items } = await operate<{ items: { id: string }[] }>("list_approvals", { run_id: runId });
    for (const { id } of items) await operate("decide_approval", { approval_id: id, decision });
    return items.length > 0;
  }

  const run: Judge["run"] = async (id, inputs = {}, decision) => {
    const { id: runId } = await operate<Run>("run_workflow", { workflow_id: id, inputs, wait: 0 });
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      await settle();
      const current = await operate<Run>("get_run", { run_id: runId, detail: "steps" });
      // The operation shortens large outputs.
      if (current.finished_at !== null)
        return { ...current, output: await instance.read.runs.runOutput(runId) };
      if (decision !== undefined && (await decide(runId, decision))) continue;
      const dueAt = await instance.read.jobs.nextDueAt(iso(clock.now()));
      if (dueAt === null) throw new Error(`The run of ${id} waits for something that nobody expects.`);
      clock.advance(Math.max(0, Date.parse(dueAt) - clock.now()));
    }
    throw new Error(`The run of ${id} with ${JSON.stringify(inputs)} does not end.`);
  };

  return {
    millrace,
    settle,
    run,
    async publish(name, description, definition) {
      const { id } = await operate<{ id: string }>("create_workflow", { name, description, definition });
      await operate("publish_workflow", { workflow_id: id });
      return id;
    },
    async published(name) {
      const { items } = await operate<{ items: WorkflowRow[] }>("list_workflows", { limit: 100 });
      const found = items.find((row) => row.name.toLowerCase() === name.toLowerCase());
      if (found === undefined)
        throw new Error(`There is no workflow "${name}", only: ${items.map((row) => row.name).join(", ")}.`);
      if (found.published_version === null) throw new Error(`"${name}" is not published.`);
      return found.id;
    },
    async output(id, inputs, decision) {
      const ended = await run(id, inputs, decision);
      if (ended.status !== "succeeded")
        throw new Error(`The run with ${JSON.stringify(inputs)} ${ended.status}: ${ended.error?.message}`);
      return ended.output;
    },
  };
}

/**
 * Fails unless `actual` has everything that `expected` has: further fields are fine, lists must have the same length, numbers
 * may differ by rounding errors.
 */
export function assertLike(actual: unknown, expected: unknown, what: string): void {
  if (!isLike(actual, expected))
    assert.fail(
      `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)?.slice(0, 500)}.`,
    );
}

function isLike(actual: unknown, expected: unknown): boolean {
  if (typeof expected === "number")
    return (
      typeof actual === "number" && Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected))
    );
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => isLike(actual[index], item))
    );
  if (typeof expected === "object" && expected !== null)
    return (
      typeof actual === "object" &&
      actual !== null &&
      Object.entries(expected).every(([name, value]) =>
        isLike((actual as Record<string, unknown>)[name] ?? null, value),
      )
    );
  return actual === expected;
}
