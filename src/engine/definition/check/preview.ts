/** Evaluates a definition with mocked outputs of its steps, before any run. */
import { nearMatch } from "../../../core/near-match.ts";
import type { Field } from "../../../core/step-type.ts";
import type { ParsedDefinition } from "./schema-check.ts";
import { iso } from "../../../core/clock.ts";
import type { CheckedState } from "./state-issues.ts";
import { eventStepIds } from "../event-steps.ts";
import type { StepOrder } from "./step-order.ts";
import { evaluatePreview, type PreviewResult, type PreviewTask, withStatus } from "./evaluate-preview.ts";
import type { LocatedIssue } from "./check-report.ts";

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

/** Evaluates a definition with mocked outputs. Its work is limited, and a check with mocks runs in a thread. */
export const previewOf = (input: PreviewInput): PreviewResult => evaluatePreview(taskOf(input));

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
