/** Evaluates a definition with mocked outputs, away from the listeners' thread and for so long only. */
import { Worker } from "node:worker_threads";
import { nearMatch } from "../../../core/near-match.ts";
import type { Field } from "../../../core/step-type.ts";
import type { ParsedDefinition } from "./schema-check.ts";
import { iso } from "../../../core/clock.ts";
import type { StepOrder } from "./step-order.ts";
import type { PreviewResult, PreviewTask } from "./evaluate-preview.ts";
import type { LocatedIssue } from "./check-report.ts";
import { nextMessage } from "./worker-message.ts";
import pLimit from "p-limit";
import { workerFile } from "./worker-file.ts";

const PREVIEW_MS = 5_000;

type Mocks = Readonly<Record<string, unknown>>;

/** Mocks of steps that there are not, or that are no objects. */
export function mockIssues(mocks: Mocks, { position }: StepOrder): LocatedIssue[] {
  const ids = [...position.keys()].filter((id) => !id.startsWith("#"));
  return Object.entries(mocks).flatMap(([id, mock]): LocatedIssue[] => {
    const path = ["mocks", id];
    if (!position.has(id)) {
      const near = nearMatch(id, ids);
      return [
        {
          path,
          code: "unknown_step",
          message: "is no step of this workflow",
          ...(ids.length <= 50 && { allowed: ids }),
          ...(near !== undefined && { did_you_mean: near }),
        },
      ];
    }
    const fits = typeof mock === "object" && mock !== null && !Array.isArray(mock);
    return fits ? [] : [{ path, code: "wrong_type", message: "must be an object: the output of the step" }];
  });
}

interface Given {
  form: ParsedDefinition;
  order: StepOrder;
  output: unknown;
  inputs: Record<string, unknown>;
  mocks: Mocks;
  selfId: string | undefined;
  /** The moment, in milliseconds. */
  now: number;
}

/** Threads at a time: each may take a processor and 256 MB for all of its time. */
const AT_A_TIME = 2;

/** Evaluates definitions, at most two at a time; the others wait for their turn, and their time only runs then. */
export function previewer(ms?: number): (given: Given, signal?: AbortSignal) => Promise<PreviewResult> {
  const limit = pLimit(AT_A_TIME);
  return (given, signal) =>
    limit(() => {
      signal?.throwIfAborted();
      return previewOf(given, signal, ms);
    });
}

/** @returns what is known, and the faults of evaluating it */
async function previewOf(
  given: Given,
  signal: AbortSignal | undefined,
  ms = PREVIEW_MS,
): Promise<PreviewResult> {
  const worker = new Worker(workerFile("preview-worker"), {
    workerData: taskOf(given),
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await nextMessage<PreviewResult>(worker, ms);
  } catch (error) {
    signal?.throwIfAborted();
    const message = `can't be evaluated: ${(error as Error).message}`;
    return { preview: { steps: {} }, issues: [{ path: ["mocks"], code: "expression_limit", message }] };
  } finally {
    signal?.removeEventListener("abort", stop);
    // The next one's turn comes once the thread is gone.
    await worker.terminate();
  }
}

function taskOf({ form, order, output, inputs, mocks, selfId, now }: Given): PreviewTask {
  return {
    steps: order.sorted.map((index) => {
      const { id, type, raw } = form.steps[index]!;
      return {
        id,
        index,
        if: raw["if"] as string | boolean | undefined,
        for_each: raw["for_each"] as string | boolean | undefined,
        fields: Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind }]) =>
          Object.hasOwn(raw, name) ? [{ name, kind, value: raw[name] }] : [],
        ),
      };
    }),
    output: output === undefined ? [] : [output],
    scope: {
      inputs,
      run: {
        id: "preview",
        started_at: iso(now),
        scheduled_for: null,
        workflow_id: selfId ?? "preview",
        trigger: "preview",
      },
      steps: Object.fromEntries(Object.entries(mocks).map(([id, mock]) => [id, asEnded(mock as object)])),
    },
  };
}

/** The mocked output as expressions see that of a step that ended; a mock with an error is of one that failed. */
const asEnded = (mock: { error?: unknown }): Record<string, unknown> => ({
  ...mock,
  status: (mock.error ?? null) === null ? "succeeded" : "failed",
  error: mock.error ?? null,
});
