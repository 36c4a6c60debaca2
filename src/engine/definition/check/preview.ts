/** Evaluates a definition with mocked outputs, in a thread of its own and with a timeout. */
import { Worker } from "node:worker_threads";
import { nearMatch } from "../../../core/near-match.ts";
import type { Field } from "../../../core/step-type.ts";
import type { ParsedDefinition } from "./schema-check.ts";
import { iso } from "../../../core/clock.ts";
import type { CheckedState } from "./state-issues.ts";
import { eventStepIds } from "../event-steps.ts";
import type { StepOrder } from "./step-order.ts";
import { type PreviewResult, type PreviewTask, withStatus } from "./evaluate-preview.ts";
import type { LocatedIssue } from "./check-report.ts";
import { nextMessage } from "./worker-message.ts";
import pLimit from "p-limit";
import { workerFile } from "./worker-file.ts";

/** Timeout of one preview, in milliseconds. Its work is limited to a tenth of that, so only a busy machine reaches it. */
const PREVIEW_MS = 30_000;

/** Stands for the URLs of events, which only a run has. */
const PREVIEW_URL = "https://preview.invalid/events/";

type Mocks = Readonly<Record<string, unknown>>;

/** Reports mocks of steps that do not exist, and mocks that are not objects. */
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
          message: "is not a step of this workflow",
          ...(ids.length <= 50 && { allowed: ids }),
          ...(near !== undefined && { did_you_mean: near }),
        },
      ];
    }
    const isObject = typeof mock === "object" && mock !== null && !Array.isArray(mock);
    return isObject
      ? []
      : [{ path, code: "wrong_type", message: "must be an object, the output of the step" }];
  });
}

interface PreviewInput {
  form: ParsedDefinition;
  order: StepOrder;
  output: unknown;
  inputs: Record<string, unknown>;
  state: CheckedState;
  mocks: Mocks;
  selfId: string | undefined;
  /** The present time, in milliseconds since 1970. */
  now: number;
}

/** Maximum number of threads at a time: each may use one processor and 256 MB. */
const MAX_THREADS = 2;

/**
 * Evaluates at most two definitions at a time. The others wait, and their timeout starts when they do.
 * @param ms the timeout, in milliseconds
 */
export function previewer(
  ms?: number,
): (input: PreviewInput, signal?: AbortSignal) => Promise<PreviewResult> {
  const limit = pLimit(MAX_THREADS);
  return (input, signal) =>
    limit(() => {
      signal?.throwIfAborted();
      return previewOf(input, signal, ms);
    });
}

async function previewOf(
  input: PreviewInput,
  signal: AbortSignal | undefined,
  ms = PREVIEW_MS,
): Promise<PreviewResult> {
  const worker = new Worker(workerFile("preview-worker"), {
    workerData: taskOf(input),
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await nextMessage<PreviewResult>(worker, ms);
  } catch (error) {
    signal?.throwIfAborted();
    const message = `could not be evaluated: ${(error as Error).message}`;
    return { preview: { steps: {} }, issues: [{ path: ["mocks"], code: "expression_limit", message }] };
  } finally {
    signal?.removeEventListener("abort", stop);
    // The next evaluation starts after the thread has ended.
    await worker.terminate();
  }
}

function taskOf({ form, order, output, inputs, state, mocks, selfId, now }: PreviewInput): PreviewTask {
  return {
    steps: order.sorted.map((index) => {
      const { id, type, raw, parsed } = form.steps[index]!;
      return {
        id,
        index,
        if: raw["if"] as string | boolean | undefined,
        for_each: raw["for_each"] as string | boolean | undefined,
        repeat: parsed?.repeat,
        fields: Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(
          ([name, { kind, encoding }]) =>
            Object.hasOwn(raw, name) ? [{ name, kind, value: raw[name], encoding }] : [],
        ),
      };
    }),
    output: output === undefined ? [] : [output],
    scope: {
      inputs,
      ...(state.shape !== undefined && { state: state.defaults }),
      run: {
        id: "preview",
        started_at: iso(now),
        scheduled_for: null,
        workflow_id: selfId ?? "preview",
        trigger: "preview",
        event_urls: Object.fromEntries(
          eventStepIds(form.steps.map(({ raw }) => raw)).map((id) => [id, `${PREVIEW_URL}${id}`]),
        ),
      },
      steps: Object.fromEntries(Object.entries(mocks).map(([id, mock]) => [id, withStatus(mock)])),
    },
  };
}
