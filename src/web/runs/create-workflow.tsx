/** Creates a workflow from runs of single steps, and shows what was guessed. */
import { Alert, Button, Checkbox, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconListCheck } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useParams } from "react-router";
import type { RunSummary } from "../../../schemas/run.ts";
import type { SavedWorkflow } from "../../../schemas/workflow.ts";
import type { z } from "zod";
import { ApiError, send } from "../api/client.ts";
import { issuesOutside } from "../forms/issues.ts";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { ErrorAlert, LoadingSkeleton, Page } from "../ui/page.tsx";
import { endSentence } from "../ui/sentence.ts";
import { Time } from "../ui/time.tsx";
import { DETAIL_FIELDS, type Details, DetailsFields } from "../workflows/details-dialog.tsx";
import { IdField, idInBody } from "../workflows/id-field.tsx";
import { IssueList } from "../workflows/issue-list.tsx";
import { invalidateWorkflows } from "../workflows/queries.ts";
import { RunName } from "./run-name.tsx";
import { useIdempotencyHeader } from "./use-idempotency-header.ts";

const TITLE = "New workflow from single steps";
/** Number of runs among which other steps are looked for. */
const SEARCHED = 100;

export default function CreateFromSteps() {
  const { runId = "" } = useParams();
  const steps = useQuery({
    queryKey: ["runs", "steps-around", runId],
    queryFn: ({ signal }) => stepsAround(runId, signal),
  });
  const may = useHasScopeIn(steps.data?.at(-1));
  if (!may("write")) return <AccessDenied title={TITLE} needs="editors and admins" />;
  if (steps.data !== undefined) return <CreateForm key={runId} runId={runId} steps={steps.data} />;
  return (
    <Page title={TITLE}>
      {steps.isError ? (
        <ErrorAlert error={steps.error} retry={() => void steps.refetch()} />
      ) : (
        <LoadingSkeleton rows={6} />
      )}
    </Page>
  );
}

/** A run of a single step, and the other ones of its project among the newest runs, oldest first. */
async function stepsAround(runId: string, signal: AbortSignal): Promise<RunSummary[]> {
  const { data: run } = await send("get", "/runs/{run_id}", { path: { run_id: runId }, query: {}, signal });
  const project = run.project === undefined ? {} : { project: run.project };
  const { data: newest } = await send("get", "/runs", {
    query: { status: ["succeeded"], limit: SEARCHED, ...project },
    signal,
  });
  const others = newest.filter(
    (other) => other.kind === "step" && other.id !== runId && other.project === run.project,
  );
  return [run, ...others].toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

type Saved = z.output<typeof SavedWorkflow>;

function CreateForm({ runId, steps }: { runId: string; steps: readonly RunSummary[] }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<readonly string[]>([runId]);
  const [details, setDetails] = useState<Details>({ name: "", description: "", tags: [] });
  const [chosenId, setChosenId] = useState("");
  const headerFor = useIdempotencyHeader();
  const create = useMutation({
    mutationFn: async (): Promise<Saved> => {
      // In the order in which they ran, which is that of the list.
      const from = steps.flatMap(({ id }) => (chosen.includes(id) ? [id] : []));
      const body = { ...details, ...idInBody(chosenId), from };
      return (await send("post", "/workflows", { header: headerFor(body), body })).data;
    },
    onSuccess: () => invalidateWorkflows(client),
  });
  const form = useFocusIssue(create.error);
  if (create.data !== undefined) return <Created workflow={create.data} />;
  const issues = (create.error instanceof ApiError && create.error.problem.errors) || [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Page title={TITLE} about="Steps that you tried become the steps of a workflow">
      <form ref={form} onSubmit={submit} noValidate>
        <Stack gap="lg" maw={900}>
          <Checkbox.Group
            label="Steps, in the order in which they ran"
            description="Values that come from the output of an earlier step are read from there."
            value={[...chosen]}
            onChange={setChosen}
          >
            <Stack gap="xs" mt="xs">
              {steps.map((run) => (
                <Checkbox
                  key={run.id}
                  value={run.id}
                  label={<RunName run={run} />}
                  description={
                    <>
                      {run.id} · <Time at={run.created_at} ago />
                    </>
                  }
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <DetailsFields details={details} onChange={setDetails} issues={issues} />
          <IdField id={chosenId} onChange={setChosenId} issues={issues} />
          {create.isError &&
            (issues.length === 0 || issuesOutside(issues, [...DETAIL_FIELDS, "id"]).length > 0) && (
              <ErrorAlert error={create.error} />
            )}
          <Group>
            <Button type="submit" loading={create.isPending} disabled={chosen.length === 0}>
              Create workflow
            </Button>
            <Button component={Link} to={`/runs/${runId}`} variant="default">
              Cancel
            </Button>
          </Group>
          <Text size="sm" c="dimmed">
            Saved as a draft. Nothing runs until you start or publish it.
          </Text>
        </Stack>
      </form>
    </Page>
  );
}

/** What was guessed, for the person who knows what was meant. */
function Created({ workflow }: { workflow: Saved }) {
  const { id, name } = workflow;
  const [guesses, issues] = [workflow.guesses ?? [], workflow.issues ?? []];
  return (
    <Page title={`Check ${name}`} about="Saved as a draft. Nothing runs until you start or publish it.">
      <Stack gap="lg" maw={900}>
        {issues.length > 0 && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="To fix before it can run">
            <IssueList issues={issues} label="Issues" />
          </Alert>
        )}
        {guesses.length > 0 && (
          <Alert
            color="yellow"
            icon={<IconListCheck aria-hidden />}
            title="Guessed from the runs: is it right?"
          >
            <List size="sm" spacing={6} aria-label="Guesses" withPadding={false}>
              {guesses.map(({ path, message }) => (
                <List.Item key={`${path} ${message}`}>
                  <Code>{path}</Code> {endSentence(message)}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        {issues.length === 0 && guesses.length === 0 && <Text>The runs left nothing to guess.</Text>}
        <Group>
          <Button component={Link} to={`/workflows/${id}/edit`}>
            Edit definition
          </Button>
          <Button component={Link} to={`/workflows/${id}`} variant="default">
            Open workflow
          </Button>
        </Group>
      </Stack>
    </Page>
  );
}
