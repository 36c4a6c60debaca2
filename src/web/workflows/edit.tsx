/** Edits a workflow's definition: text with live validation, and its graph. */
import { Alert, Box, Button, Grid, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import * as texts from "#texts/workflows";
import { ApiError } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import type { EditorHandle } from "../editor/definition-editor.tsx";
import { savedText } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { withStarts } from "../graph/starts.ts";
import { ValidationStatus } from "../editor/validation-status.tsx";
import { graphSteps } from "../graph/steps.ts";
import { useDraftTests } from "../trials/use-draft-tests.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, ErrorAlert, QueryContent, Page, LoadingSkeleton } from "../ui/page.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { FormatControl } from "./definition-panel.tsx";
import { type EditorTool, EditorToolButtons, EditorTools } from "./editor-tools.tsx";
import { PublishButton } from "./publish-button.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { whyNotPublishable } from "./publishable.ts";
import { type WorkflowWithEtag, readWorkflow } from "./queries.ts";
import { StartsLine } from "./starts-line.tsx";
import { UnsavedChangesGuard } from "./unsaved-changes-guard.tsx";
import { useDraft } from "./use-draft.ts";
import { useLastValidDefinition } from "./use-last-valid-definition.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const StepGraph = lazy(() => import("../graph/step-graph.tsx"));

export default function EditWorkflow() {
  const { workflowId = "" } = useParams();
  const hasScope = useHasScope();
  // Not the cache of other pages: editing starts from the latest version and keeps it.
  const query = useQuery({
    queryKey: ["editing", workflowId],
    queryFn: async ({ signal }) => {
      const read = await readWorkflow(workflowId, signal);
      return { read, text: await savedText(read.workflow, "yaml") };
    },
    enabled: hasScope("write"),
    staleTime: Infinity,
    gcTime: 0,
  });
  const may = useHasScopeIn(query.data?.read.workflow);
  const back = `/workflows/${workflowId}`;
  if (!may("write")) return <AccessDenied title={texts.edit} needs="editor" />;
  if (query.data === undefined) {
    return (
      <Page title={texts.editTitle({ name: workflowId })}>
        <QueryContent query={query}>{() => null}</QueryContent>
      </Page>
    );
  }
  const { read, text } = query.data;
  if (read.workflow.status === "archived") {
    return (
      <Page title={texts.editTitle({ name: read.workflow.name })}>
        <EmptyState
          title={texts.archivedWorkflow}
          action={
            <Button component={Link} to={back}>
              {texts.backToWorkflow}
            </Button>
          }
        >
          {texts.restoreToEdit}
        </EmptyState>
      </Page>
    );
  }
  return <Editor key={workflowId} read={read} text={text} />;
}

function Editor({ read, text: initialText }: { read: WorkflowWithEtag; text: string }) {
  const draft = useDraft(read, initialText);
  const { text, format, base, save, conflict, isChanged } = draft;
  const { id, name, version, published_version: published } = base.workflow;
  const navigate = useNavigate();
  const may = useHasScopeIn(base.workflow);
  const isEmpty = text.trim() === "";
  const validation = useValidation(text, format, { workflowId: id, enabled: !isEmpty });
  const { issues, state, report } = validation;
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const { definition, isInvalid } = useLastValidDefinition(text, format, base.workflow.definition);
  const steps = useMemo(() => withStarts(graphSteps(definition), definition), [definition]);
  const [isPublishing, setPublishing] = useState(false);
  const whyNot = whyNotPublishable({
    isEmpty,
    isChanged,
    isSaving: save.isPending,
    mayPublish: may("publish"),
    isPublished: published === version,
    errors,
    state,
    reason: validation.reason,
  });
  const editor = useRef<EditorHandle>(null);
  const tests = useDraftTests(id, definition);
  const [tool, setTool] = useState<EditorTool>("steps");
  /** Saves the text once it may be published. The page shows why it can't be saved. */
  const saveToPublish = async (): Promise<WorkflowWithEtag> => {
    try {
      return (await save.mutateAsync()).saved;
    } catch (error) {
      setPublishing(false);
      throw error;
    }
  };
  // A dialog handles a conflict and an expired session.
  const isHandledByDialog = save.error instanceof ApiError && [401, 412].includes(save.error.status);
  const isRejected = save.isError && !isHandledByDialog;
  return (
    <Page
      title={texts.editTitle({ name })}
      about={
        <span role="status">
          {published === null || published === version
            ? texts.draftState({ version, state: isChanged ? "changed" : "saved" })
            : texts.draftStateWithPublished({ version, state: isChanged ? "changed" : "saved", published })}
        </span>
      }
      actions={
        <>
          <Button component={Link} to={`/workflows/${id}`} variant="default">
            {texts.back}
          </Button>
          <Button
            variant="default"
            leftSection={<IconDeviceFloppy size={16} aria-hidden />}
            loading={save.isPending}
            disabled={!isChanged}
            onClick={() => save.mutate()}
          >
            {texts.save}
          </Button>
          <PublishButton whyNot={whyNot} onPublish={() => setPublishing(true)} />
        </>
      }
    >
      {isRejected &&
        (isInvalid && issues.length > 0 ? (
          <Alert color="red" role="alert">
            {texts.notSavedSyntax}
          </Alert>
        ) : (
          <ErrorAlert error={save.error} />
        ))}
      <EditorToolButtons tool={tool} onTool={setTool} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap="sm">
            <Group justify="space-between" gap="xs" wrap="wrap">
              <FormatControl format={format} onChange={(to) => void draft.setFormat(to)} />
              <Button size="xs" variant="default" disabled={isEmpty} onClick={() => void draft.formatText()}>
                {texts.formatButton}
              </Button>
            </Group>
            {draft.hasSyntaxErrors && (
              <Alert color="red" role="alert" p="xs">
                {texts.fixSyntaxFirst}
              </Alert>
            )}
            <Suspense fallback={<LoadingSkeleton rows={10} />}>
              <DefinitionEditor
                handle={editor}
                value={text}
                format={format}
                onChange={draft.setText}
                issues={issues}
                isStale={state !== "checked"}
                status={
                  <ValidationStatus
                    {...validation}
                    state={isEmpty ? "empty" : state}
                    errors={errors}
                    isInvalid={isInvalid}
                  />
                }
                label={texts.definitionOf({ name })}
                minHeight={440}
                onSave={() => isChanged && !save.isPending && save.mutate()}
                steps={report?.steps}
                tested={tests.values}
                workflowId={id}
                project={base.workflow.project}
              />
            </Suspense>
            <TextInput
              label={texts.changeNote}
              description={texts.changeNoteHelp}
              value={draft.reason}
              onChange={(event) => draft.setReason(event.currentTarget.value)}
              maxLength={1_000}
            />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <EditorTools
            tool={tool}
            onTool={setTool}
            editor={editor}
            format={format}
            project={base.workflow.project}
            tests={tests}
            definition={definition}
            isInvalid={isInvalid}
            steps={report?.steps}
          />
          <Box
            component="section"
            aria-label={texts.graph}
            display={{ base: "block", lg: tool === "steps" ? "block" : "none" }}
            style={{ position: "sticky", top: 72 }}
          >
            <Title order={2} size="h4" mb="xs">
              {texts.steps}
            </Title>
            <StartsLine definition={definition} />
            <ErrorBoundary message={texts.graphFailedInEditor} resetKey={steps}>
              <Suspense fallback={<LoadingSkeleton rows={6} />}>
                <StepGraph steps={steps} />
              </Suspense>
            </ErrorBoundary>
            {isInvalid && (
              <Text size="sm" c="dimmed" role="status">
                {texts.showsLastValid}
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
      {isPublishing && (
        <PublishDialog
          read={base}
          version={isChanged ? version + 1 : version}
          draft={isChanged ? { text, definition, save: saveToPublish } : undefined}
          onClose={() => setPublishing(false)}
          onPublished={() => void navigate(`/workflows/${id}`)}
        />
      )}
      <UnsavedChangesGuard when={isChanged} what={texts.changesToDefinition({ name })} />
    </Page>
  );
}
