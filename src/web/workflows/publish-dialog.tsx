/** Publishes a version: shows the consequences, the errors to fix, and the result of the examples. */
import { Alert, Button, Code, Group, List, Loader, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { OpenDifferences, useDifferenceConfirmation } from "../backtests/open-differences.tsx";
import { VersionBacktest } from "../backtests/version-backtest.tsx";
import { notifySuccess, notifyWarning } from "../ui/notify.ts";
import { ErrorAlert, QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";
import { BrokenCallers, useCallerConfirmation } from "./broken-callers.tsx";
import { IssueList } from "./issue-list.tsx";
import { parseExamples } from "./inputs.ts";
import { type WorkflowWithEtag, invalidateWorkflows, versionQuery } from "./queries.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { triggerIds } from "./trigger-ids.ts";
import { NextTimes } from "./next-times.tsx";
import { CronText, parseSchedule } from "./schedule-text.tsx";

interface PublishDialogProps {
  read: WorkflowWithEtag;
  version: number;
  onClose: () => void;
  onPublished?: () => void;
}

export function PublishDialog({ read, version, onClose, onPublished }: PublishDialogProps) {
  const { workflow, etag } = read;
  const client = useQueryClient();
  const navigate = useNavigate();
  const target = useQuery(versionQuery(workflow.id, version));
  const definition = target.data?.definition ?? null;
  const check = useQuery({
    queryKey: ["workflows", workflow.id, "check", version],
    queryFn: async ({ signal }) =>
      (
        await send("post", "/workflows/validate", {
          body: { definition: definition ?? {}, workflow_id: workflow.id },
          signal,
        })
      ).data,
    enabled: definition !== null,
    // Never cached: the result depends on databases and servers that may change.
    staleTime: 0,
    gcTime: 0,
  });
  const isClosed = useIsClosed();
  const publish = useSingleFlightMutation({
    mutationFn: () =>
      publishWhenTested(
        { id: workflow.id, etag, isClosed },
        {
          version,
          break_callers: [...callers.confirmed],
          accept_differences: [...differences.confirmed],
        },
      ),
    onSuccess: ({ data: { review, warnings = [] } }) => {
      const [first, ...more] = warnings;
      if (first !== undefined)
        notifyWarning(`${first.path} ${first.message}${more.length > 0 ? ` And ${more.length} more.` : ""}`);
      if (review === undefined) notifySuccess(`Published version ${version} of “${workflow.name}”.`);
      else {
        notifySuccess("Nothing is published yet: another person reviews the version first.");
        void client.invalidateQueries({ queryKey: ["reviews"] });
        if (!isClosed.current) void navigate(`/reviews/${review.id}`);
      }
      // The user is elsewhere by then, where another dialog may be open.
      if (isClosed.current) return;
      onPublished?.();
      onClose();
    },
    onSettled: () => invalidateWorkflows(client),
  });
  const issues = check.data?.errors ?? [];
  const isStale = publish.error instanceof ApiError && publish.error.status === 412;
  const callers = useCallerConfirmation(publish.error);
  const differences = useDifferenceConfirmation(publish.error);
  const isRefused = callers.callers.length > 0 || differences.names.length > 0;
  useRestoreFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Publish version ${version} of “${workflow.name}”`}
      size="lg"
      centered
    >
      <QueryContent query={target} skeleton={<LoadingSkeleton rows={3} />}>
        {() => (
          <Stack gap="md">
            {definition === null ? (
              <Text>This version has no definition to publish.</Text>
            ) : (
              <Consequences
                read={read}
                version={version}
                definition={definition}
                nextTimes={check.data?.next_runs}
              />
            )}
            {definition !== null && (
              <VersionBacktest workflow={workflow} version={version} isPublishing={publish.isPending} />
            )}
            {check.isFetching && (
              <Group gap="xs" role="status">
                <Loader size="xs" aria-hidden />
                <Text size="sm">Checking databases, models and servers…</Text>
              </Group>
            )}
            {check.isError && <ErrorAlert error={check.error} retry={() => void check.refetch()} />}
            {issues.length > 0 && (
              <Alert
                color="red"
                role="alert"
                title={issues.length === 1 ? "Fix 1 error first" : `Fix ${issues.length} errors first`}
              >
                <IssueList issues={issues} label="Errors" />
              </Alert>
            )}
            {callers.callers.length > 0 && <BrokenCallers confirmation={callers} refused="Not published" />}
            {differences.names.length > 0 && (
              <OpenDifferences workflow={workflow.id} confirmation={differences} />
            )}
            {publish.isError && !publish.isPending && !isRefused && (
              <ErrorAlert
                error={
                  isStale
                    ? new Error(
                        "Someone else changed this workflow. Nothing was published. Close this dialog and review the changes.",
                      )
                    : publish.error
                }
              />
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              {issues.length > 0 || definition === null ? (
                <Button component={Link} to={`/workflows/${workflow.id}/edit`} onClick={onClose}>
                  Edit
                </Button>
              ) : (
                <Button
                  data-autofocus
                  {...(isRefused && { color: "red" })}
                  loading={publish.isPending}
                  disabled={isStale || check.isFetching || !callers.isComplete || !differences.isComplete}
                  onClick={() => publish.mutate(undefined)}
                >
                  {isRefused ? "Publish anyway" : "Publish"}
                </Button>
              )}
            </Group>
            {publish.isPending && (
              <Text size="sm" role="status">
                Running the examples and the backtest that publishing needs, if there are any.
              </Text>
            )}
          </Stack>
        )}
      </QueryContent>
    </Modal>
  );
}

type Publication = EndpointByMethod["post"]["/workflows/{workflow_id}/publish"]["parameters"]["body"];

/** Time between two requests, in milliseconds: a server that shuts down answers at once. */
const PAUSE_MS = 1_000;

/**
 * Publishes a version, and waits for the backtest that it needs until the dialog is closed. A request that was sent by then may still
 * publish the version, so it is not aborted.
 */
async function publishWhenTested(
  { id, etag, isClosed }: { id: string; etag: string; isClosed: RefObject<boolean> },
  body: Publication,
) {
  for (;;) {
    try {
      return await send("post", "/workflows/{workflow_id}/publish", {
        path: { workflow_id: id },
        header: { "If-Match": etag, ...idempotencyHeader() },
        body,
      });
    } catch (error) {
      if (!isBeingTested(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (isClosed.current) throw error;
    }
  }
}

const isBeingTested = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.code === "backtest_unfinished" &&
  error.problem.errors?.some(({ code }) => code === "backtest_unfinished") === true;

/** Whether the component is gone. */
function useIsClosed(): RefObject<boolean> {
  const isClosed = useRef(false);
  useEffect(() => {
    // In development React mounts each component twice.
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  return isClosed;
}

interface ConsequencesProps {
  read: WorkflowWithEtag;
  version: number;
  definition: Record<string, unknown>;
  /** The next times of its schedule, once the version is checked. */
  nextTimes: readonly string[] | undefined;
}

function Consequences({ read: { workflow }, version, definition, nextTimes }: ConsequencesProps) {
  const { published_version: published, status } = workflow;
  const may = useHasScopeIn(workflow);
  const isPublished = status === "published" && published !== null;
  const examples = parseExamples(definition).length;
  const schedule = parseSchedule(definition);
  return (
    <List size="sm" spacing={4} withPadding={false}>
      <List.Item>
        {isPublished
          ? `New runs use version ${version} instead of version ${published}. Active runs continue with their version.`
          : `New runs use version ${version}, even if the workflow is changed later.`}
      </List.Item>
      {examples > 0 && (
        <List.Item>
          {examples === 1
            ? "The example runs first, without effects, and must return the expected output."
            : `The ${examples} examples run first, without effects, and must return the expected output.`}
        </List.Item>
      )}
      <List.Item>
        {schedule === undefined ? (
          "No schedule: it runs only when started."
        ) : (
          <>
            Schedule: <CronText cron={schedule.cron} /> ({schedule.timezone}).
            <NextTimes times={nextTimes} />
          </>
        )}
      </List.Item>
      {triggerIds(definition).map((id) => (
        <List.Item key={id}>
          The webhook <Code>{id}</Code> starts runs. Its URL is on the page of the workflow.
        </List.Item>
      ))}
      {definition["expose_as_tool"] === true && (
        <List.Item>
          {may("admin")
            ? "You thereby allow agents to get it as a tool of its own: they read its name, description and inputs."
            : "Agents get it as a tool of its own once an admin allows it."}
        </List.Item>
      )}
    </List>
  );
}
