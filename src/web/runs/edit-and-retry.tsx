/** Retries a run with a changed definition, which applies to the new run only. */
import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Link, useParams } from "react-router";
import * as texts from "#texts/runs";
import type { Run } from "../../../schemas/run.ts";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { type EditorIssue, placeIssues, toText } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { UnsavedChangesGuard } from "../workflows/unsaved-changes-guard.tsx";
import { linkToRun, RunLink } from "./facts.tsx";
import { runName } from "./run-name.ts";
import { Section } from "./section.tsx";
import { useRetry } from "./retry.tsx";
import { definitionQuery, runQuery } from "./queries.ts";
import { hasEnded } from "./live-updates.ts";
import { useRetryPreview } from "./use-retry-preview.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

export default function EditAndRetry() {
  const { runId = "" } = useParams();
  const hasScope = useHasScope();
  const run = useQuery({ ...runQuery(runId), enabled: hasScope("run") && hasScope("write") });
  const may = useHasScopeIn(run.data);
  if (!may("run") || !may("write")) {
    return <AccessDenied title={texts.editAndRetry} needs="editor" />;
  }
  return (
    <Page
      title={
        run.data === undefined ? texts.editAndRetry : texts.editAndRetryNamed({ name: runName(run.data) })
      }
      about={texts.editAndRetryHelp({ run: <RunLink id={runId} /> })}
    >
      <QueryContent query={run}>
        {(data) =>
          data.workflow_id === null ? (
            <Alert color="gray" title={texts.noWorkflow} role="note">
              {texts.noWorkflowHelp({ back: linkToRun(runId) })}
            </Alert>
          ) : hasEnded(data) ? (
            <OriginalDefinition key={data.id} run={{ ...data, workflow_id: data.workflow_id }} />
          ) : (
            <Alert color="gray" title={texts.stillActive} role="note">
              {texts.stillActiveHelp({ back: linkToRun(runId) })}
            </Alert>
          )
        }
      </QueryContent>
    </Page>
  );
}

type WorkflowRun = Run & { workflow_id: string };

/** Loads the definition of the run, as text. */
function OriginalDefinition({ run }: { run: WorkflowRun }) {
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
      {(original) => <RetryEditor run={run} definition={definition.data ?? {}} original={original} />}
    </QueryContent>
  );
}

interface RetryEditorProps {
  run: WorkflowRun;
  definition: Record<string, unknown>;
  original: string;
}

function RetryEditor({ run, definition, original }: RetryEditorProps) {
  const [text, setText] = useState(original);
  /** The issues of the last retry, which apply only to the text that was sent. */
  const [rejected, setRejected] = useState<{ text: string; issues: EditorIssue[] }>();
  const validation = useValidation(text, "yaml", { workflowId: run.workflow_id });
  const retry = useRetry(run, async (issues) =>
    setRejected({ text, issues: await placeIssues(text, "yaml", issues) }),
  );
  const preview = useRetryPreview(definition, text, run.steps ?? []);
  const issues =
    validation.issues.length === 0 && rejected?.text === text ? rejected.issues : validation.issues;
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const hasErrors = validation.state === "checked" && errors > 0;
  const isChanged = text !== original;
  const send = (): void => retry.mutate({ definition: text });
  return (
    <Stack gap="lg">
      <UnsavedChangesGuard
        when={isChanged && !retry.isPending && !retry.isSuccess}
        what={texts.unsavedChanges}
      />
      <Suspense fallback={<LoadingSkeleton rows={8} />}>
        <DefinitionEditor
          value={text}
          format="yaml"
          onChange={setText}
          issues={issues}
          isStale={validation.state !== "checked"}
          steps={validation.report?.steps}
          workflowId={run.workflow_id}
          project={run.project}
          label={texts.definitionLabel({ workflow: run.workflow_id })}
        />
      </Suspense>
      {isChanged && (
        <Section title={texts.yourChanges} order={2}>
          <Suspense fallback={<LoadingSkeleton rows={3} />}>
            <DefinitionDiff
              before={original}
              after={text}
              beforeLabel={
                run.patched === true
                  ? texts.versionNumberModified({ version: run.version ?? "" })
                  : texts.versionNumber({ version: run.version ?? "" })
              }
              afterLabel={texts.yourChanges}
            />
          </Suspense>
        </Section>
      )}
      {preview.length > 0 && (
        <Section title={texts.retryPreview} order={2}>
          <List size="sm" aria-live="polite">
            {preview.map((sentence) => (
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
          disabled={hasErrors || !isChanged}
        >
          {texts.retryWithChanges}
        </Button>
        <Button component={Link} to={`/runs/${run.id}`} variant="default">
          {texts.cancel}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {!isChanged && texts.noChanges}
          {isChanged && hasErrors && texts.fixErrors({ count: errors })}
        </Text>
      </Group>
    </Stack>
  );
}
