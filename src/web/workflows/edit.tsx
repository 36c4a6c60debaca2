/** Writing a workflow's definition: text with its faults as one types, and the graph of what it says. */
import { Alert, Box, Button, Grid, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconBroadcast, IconDeviceFloppy } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { ApiError } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { toText } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { graphSteps } from "../graph/steps.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { FormatControl } from "./definition-panel.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { type WorkflowWithEtag, readWorkflow } from "./queries.ts";
import { UnsavedChangesGuard } from "./unsaved-changes-guard.tsx";
import { useDraft } from "./use-draft.ts";
import { useLastValidDefinition } from "./use-last-valid-definition.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const StepGraph = lazy(() => import("../graph/step-graph.tsx"));

export default function EditWorkflow() {
  const { workflowId = "" } = useParams();
  const may = useHasScope();
  // Not what other pages have seen: one begins from the newest, and keeps it while one writes.
  const query = useQuery({
    queryKey: ["editing", workflowId],
    queryFn: async ({ signal }) => {
      const read = await readWorkflow(workflowId, signal);
      return { read, text: await toText(read.workflow.definition, "yaml") };
    },
    enabled: may("write"),
    staleTime: Infinity,
    gcTime: 0,
  });
  const back = `/workflows/${workflowId}`;
  if (!may("write")) return <AccessDenied title="Edit" needs="editors and admins" />;
  if (query.data === undefined) {
    return (
      <Page title={`Edit ${workflowId}`}>
        <QueryContent query={query}>{() => null}</QueryContent>
      </Page>
    );
  }
  const { read, text } = query.data;
  if (read.workflow.status === "archived") {
    return (
      <Page title={`Edit ${read.workflow.name}`}>
        <EmptyState
          title="It is archived"
          action={
            <Button component={Link} to={back}>
              To the workflow
            </Button>
          }
        >
          Restore it first; its history is all there.
        </EmptyState>
      </Page>
    );
  }
  return <Editing key={workflowId} read={read} text={text} />;
}

function Editing({ read, text: initialText }: { read: WorkflowWithEtag; text: string }) {
  const draft = useDraft(read, initialText);
  const { text, format, base, save, conflict, isChanged } = draft;
  const { id, name, version, published_version: live } = base.workflow;
  const navigate = useNavigate();
  const { issues, state, report } = useValidation(text, format, {
    workflowId: id,
    enabled: text.trim() !== "",
  });
  const { definition, isInvalid, hasComments } = useLastValidDefinition(
    text,
    format,
    base.workflow.definition,
  );
  const steps = useMemo(() => graphSteps(definition), [definition]);
  const [publishing, setPublishing] = useState<WorkflowWithEtag>();
  const saveAndPublish = () =>
    isChanged
      ? save.mutate(undefined, { onSuccess: ({ saved }) => setPublishing(saved) })
      : setPublishing(base);
  // What a dialog tells: somebody else has saved meanwhile, or the session has ended.
  const isToldElsewhere = save.error instanceof ApiError && [401, 412].includes(save.error.status);
  const isRefused = save.isError && !isToldElsewhere;
  return (
    <Page
      title={`Edit ${name}`}
      about={
        <span role="status">
          Version {version}
          {isChanged ? ", with changes that are not saved" : ", saved"}
          {live !== null && live !== version && `; version ${live} is live`}
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
          <Button
            leftSection={<IconBroadcast size={16} aria-hidden />}
            disabled={
              save.isPending || (!isChanged && (live === version || base.workflow.definition === null))
            }
            onClick={saveAndPublish}
          >
            Publish
          </Button>
        </>
      }
    >
      {isRefused &&
        (isInvalid && issues.length > 0 ? (
          <Alert color="red" role="alert">
            Nothing was saved: the definition can’t be read. What is wrong is marked in the text, and listed
            below it.
          </Alert>
        ) : (
          <ErrorAlert error={save.error} />
        ))}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap="sm">
            <Group justify="space-between" gap="xs" wrap="wrap">
              <FormatControl format={format} onChange={(to) => void draft.setFormat(to)} />
              <Verdict
                state={text.trim() === "" ? "empty" : state}
                issues={issues.length}
                broken={isInvalid}
              />
            </Group>
            {draft.unreadable && (
              <Alert color="red" role="alert" p="xs">
                It can’t be written in the other format while it can’t be read. Mend the faults below first.
              </Alert>
            )}
            <Suspense fallback={<LoadingSkeleton rows={10} />}>
              <DefinitionEditor
                value={text}
                format={format}
                onChange={draft.setText}
                issues={issues}
                label={`Definition of ${name}`}
                minHeight={440}
                onSave={() => isChanged && !save.isPending && save.mutate()}
                steps={report?.steps}
              />
            </Suspense>
            {hasComments && (
              <Text size="sm" role="status">
                Comments (#) are not kept: saved is what the definition says. What others should read can
                stand in a step’s <code>description</code>.
              </Text>
            )}
            <TextInput
              label="Why is it changed?"
              description="Stays in the history. May be left empty."
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
            <ErrorBoundary message="The graph could not be drawn. The text is untouched." resetKey={steps}>
              <Suspense fallback={<LoadingSkeleton rows={6} />}>
                <StepGraph steps={steps} />
              </Suspense>
            </ErrorBoundary>
            {isInvalid && (
              <Text size="sm" c="dimmed" role="status">
                As it was when the text could last be read.
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
          onKeep={() => draft.keepMine(conflict)}
          onTake={() => draft.takeTheirs(conflict)}
        />
      )}
      {publishing !== undefined && (
        <PublishDialog
          read={publishing}
          version={publishing.workflow.version}
          onClose={() => setPublishing(undefined)}
          onPublished={() => void navigate(`/workflows/${id}`)}
        />
      )}
      <UnsavedChangesGuard when={isChanged} what={`your changes to the definition of “${name}”`} />
    </Page>
  );
}

interface VerdictProps {
  state: "empty" | ReturnType<typeof useValidation>["state"];
  issues: number;
  broken: boolean;
}

/** What is known of the text as it stands. */
function Verdict({ state, issues, broken }: VerdictProps) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {state === "empty" && "Nothing is written yet."}
      {state === "checking" && "Checking …"}
      {state === "checked" && issues === 0 && "Valid: it can run."}
      {state === "checked" &&
        issues > 0 &&
        (broken ? "It can’t be read yet." : "It can be saved, but not run yet.")}
      {state === "unavailable" && "Not checked: the server gave no answer."}
    </Text>
  );
}
