/** Tests of a draft, and what the last ones returned. All of it is kept until the editor is closed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Run } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { asList, asObject } from "../editor/path.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { hasEnded } from "../runs/live-updates.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { isTruncated } from "../values/classify-value.ts";
import { reusableSteps, type StepTexts, stepTexts } from "./reusable-steps.ts";

type Definition = Record<string, unknown>;

/** Time between two requests for a test that is running, in milliseconds. */
const POLL_MS = 700;
/** Maximum size of a value, in characters of JSON; a larger one is truncated. */
const MAX_VALUE_CHARS = 20_000;

interface TestRequest {
  /** Undefined for the whole draft. */
  stepId: string | undefined;
  inputs: Record<string, unknown>;
  /** The steps whose effects happen. */
  effects: readonly string[];
  /** Whether outputs of the last test stand in for unchanged steps. */
  reuse: boolean;
}

/** A test as it was started: its run, and what was tested. */
interface StartedTest {
  run: Run;
  stepId: string | undefined;
  texts: StepTexts;
}

async function readTest(runId: string, signal: AbortSignal): Promise<Run> {
  const query = { detail: "full", max_chars: MAX_VALUE_CHARS } as const;
  return (await send("get", "/runs/{run_id}", { path: { run_id: runId }, query, signal })).data;
}

export function useDraftTests(workflowId: string, definition: Definition | null) {
  const client = useQueryClient();
  const [started, setStarted] = useState<StartedTest>();
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({});
  const start = useSingleFlightMutation({
    mutationFn: async ({ stepId, inputs, effects, reuse }: TestRequest): Promise<StartedTest> => {
      const tested = definition ?? {};
      const from = reuse ? reusable(stepId, inputs) : [];
      const { data } = await send("post", "/workflows/{workflow_id}/test", {
        path: { workflow_id: workflowId },
        header: idempotencyHeader(),
        body: {
          definition: tested,
          inputs,
          effects: [...effects],
          ...(stepId !== undefined && { step_id: stepId }),
          ...(from.length > 0 && { given: { from_run: started!.run.id, steps: from } }),
          wait: 0,
        },
      });
      return { run: data, stepId, texts: stepTexts(tested, inputs) };
    },
    onSuccess: setStarted,
    onSettled: () => void client.invalidateQueries({ queryKey: ["runs"] }),
  });
  const runId = started?.run.id;
  const query = useQuery({
    queryKey: ["runs", runId ?? null, "test"],
    queryFn: async ({ signal }) => {
      const read = await readTest(runId!, signal);
      if (hasEnded(read)) setValues((before) => ({ ...before, ...outputsOf(read) }));
      return read;
    },
    enabled: runId !== undefined,
    refetchInterval: ({ state }) => (state.data === undefined || hasEnded(state.data) ? false : POLL_MS),
  });
  const run = query.data;

  /** The steps before a step whose outputs in the last test are still those of the draft. */
  function reusable(stepId: string | undefined, inputs: Record<string, unknown>): string[] {
    if (stepId === undefined || started === undefined || run === undefined || !hasEnded(run)) return [];
    const now = stepTexts(definition ?? {}, inputs);
    const succeeded = (run.steps ?? []).filter(({ status }) => status === "succeeded").map(({ id }) => id);
    return reusableSteps({ before: started.texts, now, succeeded, stepId });
  }

  const stepIds = useMemo(() => idsOf(definition), [definition]);
  return { start, started, run, error: query.error, values, reusable, stepIds };
}

/** The outputs of the steps of a test, as far as they were loaded whole. */
const outputsOf = ({ steps = [] }: Run): Record<string, unknown> =>
  Object.fromEntries(
    steps
      .filter(({ output }) => output !== undefined && !isTruncated(output))
      .map(({ id, output }) => [id, output]),
  );

export type DraftTests = ReturnType<typeof useDraftTests>;

const idsOf = (definition: Definition | null): string[] =>
  asList(definition?.["steps"]).flatMap((step) => {
    const { id } = asObject(step);
    return typeof id === "string" ? [id] : [];
  });
