/**
 * Edits a workflow's definition: text with live validation, and its graph. `?from=` is a run, whose definition is the draft to begin
 * with.
 */
import { Alert, Box, Button, Card, Grid, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconBroadcast, IconDeviceFloppy, IconHistoryToggle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import type { Backtest } from "../../../schemas/backtest.ts";
import { ApiError } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { StartedBacktest } from "../backtests/version-backtest.tsx";
import { useValidation } from "../editor/use-validation.ts";
import { graphSteps } from "../graph/steps.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { FormatControl } from "./definition-panel.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { type WorkflowWithEtag, readWrittenWorkflow } from "./queries.ts";
import { type DraftOfRun, readDraftOfRun, RunDraft } from "./run-draft.tsx";
import { StartsLine } from "./starts-line.tsx";
import { UnsavedChangesGuard } from "./unsaved-changes-guard.tsx";
import { useDraft } from "./use-draft.ts";
import { useLastValidDefinition } from "./use-last-valid-definition.ts";
import { usePublish } from "./use-publish.ts";
import { ValidationStatus } from "./validation-status.tsx";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const BacktestDialog = lazy(async () => ({
  default: (await import("../backtests/backtest-dialog.tsx")).BacktestDialog,
}));
const StepGraph = lazy(() => import("../graph/step-graph.tsx"));

export default function EditWorkflow() {
  const { workflowId = "" } = useParams();
  const from = useSearchParams()[0].get("from");
  const hasScope = useHasScope();
  // Not the cache of other pages: editing starts from the latest version and keeps it.
  const query = useQuery({
    queryKey: ["editing", workflowId, from],
    queryFn: async ({ signal }) => {
      const written = await readWrittenWorkflow(workflowId, signal);
      return { ...written, draft: from === null ? undefined : await readDraftOfRun(from, written, signal) };
    },
    enabled: hasScope("write"),
    staleTime: Infinity,
    gcTime: 0,
  });
  const may = useHasScopeIn(query.data?.read.workflow);
  const back = `/workflows/${workflowId}`;
  if (!may("write")) return <AccessDenied title="Edit" needs="editors and admins" />;
  if (query.data === undefined) {
    return (
      <Page title={`Edit ${workflowId}`}>
        <QueryContent query={query}>{() => null}</QueryContent>
      </Page>
    );
  }
  const { read, text, draft } = query.data;
  if (read.workflow.status === "archived") {
    return (
      <Page title={`Edit ${read.workflow.name}`}>
        <EmptyState
          title="Archived workflow"
          action={
            <Button component={Link} to={back}>
              Back to the workflow
            </Button>
          }
        >
          Restore the workflow to edit it.
        </EmptyState>
      </Page>
    );
  }
  return <Editor key={`${workflowId} ${draft?.id}`} read={read} text={text} run={draft} />;
}

interface EditorProps {
  read: WorkflowWithEtag;
  /** The text of its latest version. */
  text: string;
  /** The run whose definition is the draft to begin with. */
  run: DraftOfRun | undefined;
}

function Editor({ read, text: initialText, run }: EditorProps) {
  const draft = useDraft(read, initialText, run?.text);
  const { text, format, base, save, conflict, isChanged } = draft;
  const { id, name, version, published_version: published } = base.workflow;
  const navigate = useNavigate();
  const { issues, state, report } = useValidation(text, format, {
    workflowId: id,
    enabled: text.trim() !== "",
  });
  const { definition, isInvalid } = useLastValidDefinition(text, format, base.workflow.definition);
  const steps = useMemo(() => graphSteps(definition), [definition]);
  const publish = usePublish(draft);
  const [isBacktesting, setBacktesting] = useState(false);
  const [backtest, setBacktest] = useState<Backtest>();
  const may = useHasScopeIn(base.workflow);
  // A dialog handles a conflict and an expired session.
  const isHandledByDialog = save.error instanceof ApiError && [401, 412].includes(save.error.status);
  const isRejected = save.isError && !isHandledByDialog;
  return (
    <Page
      title={`Edit ${name}`}
      about={
        <span role="status">
          Version {version}
          {isChanged ? ", unsaved changes" : ", saved"}
          {published !== null && published !== version && `; version ${published} is published`}
        </span>
      }
      actions={
        <>
          <Button component={Link} to={`/workflows/${id}`} variant="default">
            Back
          </Button>
          <Button
            variant="default"
            leftSection={<IconDeviceFloppy size={16} aria-hidden />}
            loading={save.isPending}
            disabled={!isChanged}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
          {may("run") && (
            <Button
              variant="default"
              leftSection={<IconHistoryToggle size={16} aria-hidden />}
              disabled={text.trim() === ""}
              onClick={() => setBacktesting(true)}
            >
              Backtest
            </Button>
          )}
          <Button
            leftSection={<IconBroadcast size={16} aria-hidden />}
            loading={publish.isChecking}
            disabled={
              save.isPending ||
              (isChanged ? text.trim() === "" : published === version || base.workflow.definition === null)
            }
            onClick={publish.start}
          >
            {isChanged ? "Save and publish" : "Publish"}
          </Button>
        </>
      }
    >
      {publish.error !== null && <ErrorAlert error={publish.error} />}
      {publish.errors > 0 && (
        <Alert color="red" role="alert">
          Nothing was saved or published. Fix{" "}
          {publish.errors === 1 ? "the error" : `${publish.errors} errors`} in the text, or save it without
          publishing it.
        </Alert>
      )}
      {isRejected &&
        (isInvalid && issues.length > 0 ? (
          <Alert color="red" role="alert">
            Not saved: the definition has syntax errors. They are marked in the text and listed below it.
          </Alert>
        ) : (
          <ErrorAlert error={save.error} />
        ))}
      {run !== undefined && isChanged && base === read && <RunDraft run={run} base={draft} />}
      {backtest !== undefined && (
        <Card withBorder p="sm">
          <StartedBacktest key={backtest.id} started={backtest} />
        </Card>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap="sm">
            <Group justify="space-between" gap="xs" wrap="wrap">
              <Group gap="xs">
                <FormatControl format={format} onChange={(to) => void draft.setFormat(to)} />
                <Button
                  variant="default"
                  size="xs"
                  title="Shift-Alt-F"
                  disabled={text.trim() === ""}
                  onClick={() => void draft.tidy()}
                >
                  Format
                </Button>
              </Group>
              <ValidationStatus
                state={text.trim() === "" ? "empty" : state}
                errors={issues.filter(({ severity }) => severity === "error").length}
                isInvalid={isInvalid}
              />
            </Group>
            {draft.hasSyntaxErrors && (
              <Alert color="red" role="alert" p="xs">
                Fix the syntax errors before you switch the format.
              </Alert>
            )}
            <Suspense fallback={<LoadingSkeleton rows={10} />}>
              <DefinitionEditor
                value={text}
                format={format}
                onChange={(changed) => {
                  publish.reset();
                  draft.setText(changed);
                }}
                issues={issues}
                label={`Definition of ${name}`}
                minHeight={440}
                onSave={() => isChanged && !save.isPending && save.mutate()}
                onFormat={() => void draft.tidy()}
                steps={report?.steps}
                workflowId={id}
                project={base.workflow.project}
              />
            </Suspense>
            <TextInput
              label="Change note (optional)"
              description="Kept in the history."
              value={draft.reason}
              onChange={(event) => draft.setReason(event.currentTarget.value)}
              maxLength={1_000}
            />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Box component="section" aria-label="Graph" style={{ position: "sticky", top: 72 }}>
            <Title order={2} size="h4" mb="xs">
              Steps
            </Title>
            <StartsLine definition={definition} nextTimes={report?.next_runs} />
            <ErrorBoundary
              message="The graph could not be drawn. Your text is not affected."
              resetKey={steps}
            >
              <Suspense fallback={<LoadingSkeleton rows={6} />}>
                <StepGraph steps={steps} />
              </Suspense>
            </ErrorBoundary>
            {isInvalid && (
              <Text size="sm" c="dimmed" role="status">
                Shows the last version without syntax errors.
              </Text>
            )}
          </Box>
        </Grid.Col>
      </Grid>
      {conflict !== undefined && (
        <ConflictDialog
          conflict={conflict}
          base={base}
          mine={text}
          onKeep={() => draft.keepDraft(conflict)}
          onDiscard={() => draft.discard(conflict)}
        />
      )}
      <Suspense>
        {isBacktesting && (
          <BacktestDialog
            workflow={base.workflow}
            definition={text}
            onStarted={setBacktest}
            onClose={() => setBacktesting(false)}
          />
        )}
      </Suspense>
      {publish.publishing !== undefined && (
        <PublishDialog
          read={publish.publishing}
          version={publish.publishing.workflow.version}
          onClose={publish.close}
          onPublished={() => void navigate(`/workflows/${id}`)}
        />
      )}
      <UnsavedChangesGuard when={isChanged} what={`your changes to the definition of “${name}”`} />
    </Page>
  );
}
