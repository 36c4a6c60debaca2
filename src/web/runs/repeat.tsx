/** Repeats a run of a workflow: with the same inputs at once, or with others in the form. */
import { Code, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { runInputsQuery } from "./queries.ts";
import { runName } from "./run-name.ts";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

export type RepeatedRun = Pick<RunSummary, "id" | "workflow_id" | "workflow_name" | "step" | "project">;

/** The form of the workflow, with the inputs of a run. */
export const otherInputsPath = ({ id, workflow_id: workflow }: RepeatedRun): string =>
  `/workflows/${workflow}/run?from=${id}`;

/** Maximum length of the inputs that the confirmation shows, in characters of JSON. */
const SHOWN_CHARS = 400;

/** @returns a function that asks, starts the run with the inputs of another one, and opens it */
export function useRunAgain(): (run: RepeatedRun) => void {
  const client = useQueryClient();
  const navigate = useNavigate();
  const headerFor = useIdempotencyHeader();
  const start = useSingleFlightMutation({
    mutationFn: ({ run, inputs }: { run: RepeatedRun; inputs: Record<string, unknown> }) =>
      send("post", "/workflows/{workflow_id}/runs", {
        path: { workflow_id: run.workflow_id! },
        header: headerFor({ id: run.id, inputs }),
        body: { inputs },
      }),
    onSuccess: async ({ data }, { run }) => {
      await client.invalidateQueries({ queryKey: ["runs"] });
      notifySuccess(texts.newVersionRunStarted({ name: runName(run), version: data.version ?? "" }));
      await navigate(`/runs/${data.id}`);
    },
    onError: (error) => notifyError(texts.startFailed, error),
  });
  const ask = (run: RepeatedRun, inputs: Record<string, unknown>): void => {
    modals.openConfirmModal({
      title: texts.runAgainTitle({ name: runName(run) }),
      children: <SameInputs inputs={inputs} />,
      labels: { confirm: texts.runAgain, cancel: texts.cancel },
      onConfirm: () => start.mutate({ run, inputs }),
    });
  };
  return (run) => {
    client.fetchQuery(runInputsQuery(run.id)).then(
      (inputs) => ask(run, inputs),
      (error: unknown) => notifyError(texts.loadInputsFailed, error),
    );
  };
}

function SameInputs({ inputs }: { inputs: Record<string, unknown> }) {
  const json = JSON.stringify(inputs, null, 2);
  if (Object.keys(inputs).length === 0) return <Text size="sm">{texts.noInputsHelp}</Text>;
  return (
    <Stack gap="xs">
      <Text size="sm">{texts.sameInputsHelp}</Text>
      <Code block mah={200} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", overflowY: "auto" }}>
        {json.length <= SHOWN_CHARS
          ? json
          : texts.shortened({ text: json.slice(0, SHOWN_CHARS).toWellFormed(), chars: json.length })}
      </Code>
    </Stack>
  );
}
