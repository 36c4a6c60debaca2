/** Retrying a run on a changed definition: written here, for the new run only. */
import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useParams } from "react-router";
import type { Run } from "../../../schemas/run.ts";
import { useHasScope } from "../app/session.tsx";
import { type EditorIssue, placeIssues, toText } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { UnsavedChangesGuard } from "../workflows/unsaved-changes-guard.tsx";
import { RunLink } from "./facts.tsx";
import { Section } from "./section.tsx";
import { useRetry } from "./retry.tsx";
import { definitionQuery, runQuery } from "./queries.ts";
import { hasEnded } from "./live-updates.ts";
import { useRetryPreview } from "./use-retry-preview.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

export default function EditAndRetry() {
  const { runId = "" } = useParams();
  const may = useHasScope();
  const run = useQuery({ ...runQuery(runId), enabled: may("run") && may("write") });
  if (!may("run") || !may("write")) {
    return <AccessDenied title="Edit and retry" needs="editors and admins" />;
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
      <QueryContent query={run}>
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
      </QueryContent>
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
  if (definition.isError)
    return <ErrorAlert error={definition.error} retry={() => void definition.refetch()} />;
  return (
    <QueryContent query={text} skeleton={<LoadingSkeleton rows={8} />}>
      {(original) => <Editing run={run} definition={definition.data ?? {}} original={original} />}
    </QueryContent>
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
  const [refused, setRefused] = useState<{ text: string; issues: EditorIssue[] }>();
  const checked = useValidation(text, "yaml", { workflowId: run.workflow_id });
  const retry = useRetry(run, async (issues) =>
    setRefused({ text, issues: await placeIssues(text, "yaml", issues) }),
  );
  const forecast = useRetryPreview(definition, text, run.steps ?? []);
  const issues = checked.issues.length === 0 && refused?.text === text ? refused.issues : checked.issues;
  const isIssuey = checked.state === "checked" && issues.some(({ severity }) => severity === "error");
  const isChanged = text !== original;
  const send = (): void => retry.mutate({ definition: text });
  return (
    <Stack gap="lg">
      <UnsavedChangesGuard
        when={isChanged && !retry.isPending && !retry.isSuccess}
        what="your changes to the definition"
      />
      <Suspense fallback={<LoadingSkeleton rows={8} />}>
        <DefinitionEditor
          value={text}
          format="yaml"
          onChange={setText}
          issues={issues}
          steps={checked.report?.steps}
          label={`Definition of ${run.workflow_id} for the new run`}
        />
      </Suspense>
      {isChanged && (
        <Section title="What you changed" order={2}>
          <Suspense fallback={<LoadingSkeleton rows={3} />}>
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
        </Section>
      )}
      {forecast.length > 0 && (
        <Section title="What the new run does" order={2}>
          <List size="sm" aria-live="polite">
            {forecast.map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
        </Section>
      )}
      <Group>
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={send}
          loading={retry.isPending}
          disabled={isIssuey || !isChanged}
        >
          Retry with these changes
        </Button>
        <Button component={Link} to={`/runs/${run.id}`} variant="default">
          Leave it
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {isChanged ? (isIssuey ? "Mend the faults first." : "") : "Nothing is changed yet."}
        </Text>
      </Group>
    </Stack>
  );
}
