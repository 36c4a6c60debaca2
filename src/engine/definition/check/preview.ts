/** Evaluates a definition with mocked outputs of its steps, before any run. */
import type { Field } from "../../../core/step-type.ts";
import type { ParsedStep } from "./schema-check.ts";
import { iso } from "../../../core/clock.ts";
import type { CheckedState } from "./state-issues.ts";
import { eventStepIds } from "../event-steps.ts";
import type { StepOrder } from "./step-order.ts";
import { evaluatePreview, type PreviewResult, type PreviewTask } from "./evaluate-preview.ts";
import type { PreviewStep } from "./preview-step.ts";

/** Stands for the URLs of events, which only a run has. */
const PREVIEW_URL = "https://preview.invalid/events/";

type Mocks = Readonly<Record<string, unknown>>;

interface PreviewInput {
  steps: readonly ParsedStep[];
  order: StepOrder;
  output: unknown;
  inputs: Record<string, unknown>;
  state: CheckedState;
  mocks: Mocks;
  selfId: string | undefined;
  /** The present time, in milliseconds since 1970. */
  now: number;
}

/** Evaluates a definition with mocked outputs. Its work is limited, and a check with mocks runs in a thread. */
export const previewOf = (input: PreviewInput): PreviewResult => evaluatePreview(taskOf(input));

function taskOf({ steps, order, output, inputs, state, mocks, selfId, now }: PreviewInput): PreviewTask {
  return {
    steps: order.sorted.map((index) => {
      const { id, type, raw, parsed, undo, lookup } = steps[index]!;
      return {
        id,
        index,
        type,
        step: raw,
        repeat: parsed?.repeat,
        fields: fieldsOf(type, raw),
        ...(undo !== undefined && { undo: fieldsOf(undo.type, undo.raw) }),
        ...(lookup !== undefined && { lookup: fieldsOf(lookup.type, lookup.raw) }),
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
          eventStepIds(steps.map(({ raw }) => raw)).map((id) => [id, `${PREVIEW_URL}${id}`]),
        ),
      },
    },
    mocks,
  };
}

/** The fields of a step that its type has. */
const fieldsOf = (type: ParsedStep["type"], raw: ParsedStep["raw"]): PreviewStep["fields"] =>
  Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind, encoding }]) =>
    Object.hasOwn(raw, name) ? [{ name, kind, value: raw[name], encoding }] : [],
  );
