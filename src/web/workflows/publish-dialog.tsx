/** Publishes a version: shows the consequences, the errors to fix, and the result of the examples. */
import { Alert, Button, Group, List, Loader, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import * as texts from "#texts/workflows";
import { ApiError, send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { notifySuccess, notifyWarning } from "../ui/notify.ts";
import { ErrorAlert, QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { BrokenCallers, useCallerConfirmation } from "./broken-callers.tsx";
import { IssueList } from "./issue-list.tsx";
import { parseExamples } from "./inputs.ts";
import { PublishedStarts } from "./published-starts.tsx";
import { type WorkflowWithEtag, invalidateWorkflows, versionQuery } from "./queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";

interface PublishDialogProps {
  read: WorkflowWithEtag;
  version: number;
  /** A text that becomes this version: it is checked first, and saved only when it is published. */
  draft?: Draft | undefined;
  onClose: () => void;
  onPublished?: () => void;
}

interface Draft {
  text: string;
  definition: Record<string, unknown> | null;
  /** Saves the text. @throws the error of the request */
  save: () => Promise<WorkflowWithEtag>;
}

export function PublishDialog({ read, version, draft, onClose, onPublished }: PublishDialogProps) {
  const { workflow } = read;
  /** Nothing is checked meanwhile: the version that is saved first is the text that was checked. */
  const [isPublishing, setPublishing] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const known = draft?.definition ?? (workflow.version === version ? workflow.definition : undefined);
  const isKnown = known !== undefined || draft !== undefined;
  const target = useQuery({ ...versionQuery(workflow.id, version), enabled: !isKnown });
  const definition = known ?? target.data?.definition ?? null;
  const check = useQuery({
    queryKey: ["workflows", workflow.id, "check", version, draft?.text],
    queryFn: async ({ signal }) =>
      (
        await send("post", "/workflows/validate", {
          body: { definition: draft?.text ?? definition ?? {}, workflow_id: workflow.id },
          signal,
        })
      ).data,
    enabled: definition !== null && !isPublishing,
    // Never cached: the result depends on databases and servers that may change.
    staleTime: 0,
    gcTime: 0,
  });
  const publish = useSingleFlightMutation({
    mutationFn: async (confirmed: readonly string[]) => {
      const saved = (await draft?.save()) ?? read;
      return send("post", "/workflows/{workflow_id}/publish", {
        path: { workflow_id: workflow.id },
        header: { "If-Match": saved.etag, ...idempotencyHeader() },
        body: {
          version: draft === undefined ? version : saved.workflow.version,
          break_callers: [...confirmed],
        },
      });
    },
    onMutate: () => setPublishing(true),
    onSuccess: ({ data: { review, warnings = [] } }) => {
      const [first, ...more] = warnings;
      if (first !== undefined)
        notifyWarning(texts.publishWarning({ path: first.path, message: first.message, more: more.length }));
      if (review === undefined) notifySuccess(texts.publishedVersion({ version, name: workflow.name }));
      else {
        notifySuccess(texts.reviewFirst);
        void client.invalidateQueries({ queryKey: ["reviews"] });
        void navigate(`/reviews/${review.id}`);
      }
      onPublished?.();
      onClose();
    },
    onSettled: () => {
      setPublishing(false);
      return invalidateWorkflows(client);
    },
  });
  const issues = check.data?.errors ?? [];
  const isStale = publish.error instanceof ApiError && publish.error.status === 412;
  const callers = useCallerConfirmation(publish.error);
  useRestoreFocus();
  const content = (
    <Stack gap="md">
      {definition === null ? (
        <Text>{texts.nothingToPublish}</Text>
      ) : (
        <Consequences read={read} version={version} definition={definition} />
      )}
      {check.isFetching && (
        <Group gap="xs" role="status">
          <Loader size="xs" aria-hidden />
          <Text size="sm">{texts.checking}</Text>
        </Group>
      )}
      {check.isError && <ErrorAlert error={check.error} retry={() => void check.refetch()} />}
      {issues.length > 0 && (
        <Alert color="red" role="alert" title={texts.fixErrorsFirst({ count: issues.length })}>
          <IssueList issues={issues} label={texts.errors} />
        </Alert>
      )}
      {callers.callers.length > 0 && <BrokenCallers confirmation={callers} refused={texts.notPublished} />}
      {publish.isError && !publish.isPending && callers.callers.length === 0 && (
        <ErrorAlert error={isStale ? new Error(texts.publishConflict) : publish.error} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.cancel}
        </Button>
        {(issues.length > 0 || definition === null) && draft === undefined ? (
          <Button component={Link} to={`/workflows/${workflow.id}/edit`} onClick={onClose}>
            {texts.edit}
          </Button>
        ) : (
          <Button
            data-autofocus
            {...(callers.callers.length > 0 && { color: "red" })}
            loading={publish.isPending}
            disabled={
              isStale || check.isFetching || check.isError || issues.length > 0 || !callers.isComplete
            }
            onClick={() => publish.mutate([...callers.confirmed])}
          >
            {callers.callers.length === 0 ? texts.publish : texts.publishAnyway}
          </Button>
        )}
      </Group>
      {publish.isPending && definition !== null && parseExamples(definition).length > 0 && (
        <Text size="sm" role="status">
          {texts.runningExamples}
        </Text>
      )}
    </Stack>
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.publishTitle({ version, name: workflow.name })}
      size="lg"
      centered
    >
      {isKnown ? (
        content
      ) : (
        <QueryContent query={target} skeleton={<LoadingSkeleton rows={3} />}>
          {() => content}
        </QueryContent>
      )}
    </Modal>
  );
}

interface ConsequencesProps {
  read: WorkflowWithEtag;
  version: number;
  definition: Record<string, unknown>;
}

function Consequences({ read: { workflow }, version, definition }: ConsequencesProps) {
  const { published_version: published, status } = workflow;
  const may = useHasScopeIn(workflow);
  const isPublished = status === "published" && published !== null;
  const examples = parseExamples(definition).length;
  return (
    <List size="sm" spacing={4} withPadding={false}>
      <List.Item>
        {isPublished ? texts.newRunsInstead({ version, published }) : texts.newRuns({ version })}
      </List.Item>
      {examples > 0 && <List.Item>{texts.examplesRunFirst({ count: examples })}</List.Item>}
      <PublishedStarts definition={definition} />
      {definition["expose_as_tool"] === true && (
        <List.Item>{may("admin") ? texts.allowsAgents : texts.agentsOnceAllowed}</List.Item>
      )}
    </List>
  );
}
