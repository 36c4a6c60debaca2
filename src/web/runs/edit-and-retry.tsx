/** Retrying a run on a changed definition: written here, for the new run only. */
import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useParams } from "react-router";
import type { Run } from "../../../schemas/run.ts";
import { useMay } from "../app/session.tsx";
import { type EditorFault, placeFaults, toText } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { NotForYou } from "../ui/not-for-you.tsx";
import { Failed, Loaded, Page, Waiting } from "../ui/page.tsx";
import { Unsaved } from "../workflows/unsaved.tsx";
import { RunLink } from "./facts.tsx";
import { Part } from "./parts.tsx";
import { useRetry } from "./retry.tsx";
import { definitionQuery, runQuery } from "./run-data.ts";
import { hasEnded } from "./told.ts";
import { useForecast } from "./use-forecast.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

export default function EditAndRetry() {
  const { runId = "" } = useParams();
  const may = useMay();
  const run = useQuery({ ...runQuery(runId), enabled: may("run") && may("write") });
  if (!may("run") || !may("write")) {
    return <NotForYou title="Edit and retry" needs="editors and admins" />;
  }
  return (
    <Page
      title={run.data === undefined ? "Edit and retry" : `Edit and retry ${run.data.workflow_id}`}
      about={
        <>
          In place of the run <RunLink id={runId} />. The change is for the new run only: save what works in
          the workflow.
        </>
      }
    >
      <Loaded query={run}>
        {(found) =>
          hasEnded(found) ? (
            <Beginning key={found.id} run={found} />
          ) : (
            <Alert color="gray" title="This run has not ended" role="note">
              Wait for its end, or cancel it: then it can be retried.{" "}
              <RunLink id={runId}>Back to the run</RunLink>
            </Alert>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The definition that is begun from, as text. */
function Beginning({ run }: { run: Run }) {
  const definition = useQuery(definitionQuery(run.id));
  const text = useQuery({
    queryKey: ["runs", run.id, "definition", "yaml"],
    queryFn: () => toText(definition.data ?? null, "yaml"),
    enabled: definition.data !== undefined,
    staleTime: Infinity,
  });
  if (definition.isError) return <Failed error={definition.error} retry={() => void definition.refetch()} />;
  return (
    <Loaded query={text} skeleton={<Waiting rows={8} />}>
      {(original) => <Editing run={run} definition={definition.data ?? {}} original={original} />}
    </Loaded>
  );
}

interface EditingProps {
  run: Run;
  definition: Record<string, unknown>;
  original: string;
}

function Editing({ run, definition, original }: EditingProps) {
  const [text, setText] = useState(original);
  /** What was refused, and of which text: it is no longer true of another. */
  const [refused, setRefused] = useState<{ text: string; faults: EditorFault[] }>();
  const checked = useValidation(text, "yaml", { workflowId: run.workflow_id });
  const retry = useRetry(run, async (faults) =>
    setRefused({ text, faults: await placeFaults(text, "yaml", faults) }),
  );
  const forecast = useForecast(definition, text, run.steps ?? []);
  const faults = checked.faults.length === 0 && refused?.text === text ? refused.faults : checked.faults;
  const isFaulty = checked.state === "checked" && faults.some(({ severity }) => severity === "error");
  const isChanged = text !== original;
  const send = (): void => retry.mutate({ definition: text });
  return (
    <Stack gap="lg">
      <Unsaved
        when={isChanged && !retry.isPending && !retry.isSuccess}
        what="your changes to the definition"
      />
      <Suspense fallback={<Waiting rows={8} />}>
        <DefinitionEditor
          value={text}
          format="yaml"
          onChange={setText}
          faults={faults}
          steps={checked.report?.steps}
          label={`Definition of ${run.workflow_id} for the new run`}
        />
      </Suspense>
      {isChanged && (
        <Part title="What you changed" order={2}>
          <Suspense fallback={<Waiting rows={3} />}>
            <DefinitionDiff
              before={original}
              after={text}
              beforeLabel={
                run.patched === true
                  ? `Version ${run.version}, changed for this run`
                  : `Version ${run.version}`
              }
              afterLabel="Yours"
            />
          </Suspense>
        </Part>
      )}
      {forecast.length > 0 && (
        <Part title="What the new run does" order={2}>
          <List size="sm" aria-live="polite">
            {forecast.map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
        </Part>
      )}
      <Group>
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={send}
          loading={retry.isPending}
          disabled={isFaulty || !isChanged}
        >
          Retry with these changes
        </Button>
        <Button component={Link} to={`/runs/${run.id}`} variant="default">
          Leave it
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {isChanged ? (isFaulty ? "Mend the faults first." : "") : "Nothing is changed yet."}
        </Text>
      </Group>
    </Stack>
  );
}
