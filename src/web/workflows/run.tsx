/** Starts a run: chooses the version and the inputs. */
import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import { ApiError, send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { issuesUnder, issuesOutside } from "../forms/issues.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { runInputsQuery } from "../runs/queries.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { linkTo } from "../ui/message-tags.tsx";
import { EmptyState, ErrorAlert, QueryContent, Page } from "../ui/page.tsx";
import { parseExamples, inputSchemaOf, splitInputs } from "./inputs.ts";
import { type WorkflowWithEtag, versionQuery, workflowQuery } from "./queries.ts";

export default function RunWorkflow() {
  const { workflowId = "" } = useParams();
  const hasScope = useHasScope();
  const query = useQuery({ ...workflowQuery(workflowId), enabled: hasScope("run") });
  const may = useHasScopeIn(query.data?.workflow);
  const back = `/workflows/${workflowId}`;
  if (!may("run")) return <AccessDenied title={texts.runButton} needs="editor" />;
  return (
    <Page
      title={texts.runTitle({ name: query.data?.workflow.name ?? workflowId })}
      about={
        <Anchor component={Link} to={back} size="sm">
          {texts.backToWorkflow}
        </Anchor>
      }
    >
      <QueryContent query={query}>{(read) => <ChosenVersion read={read} />}</QueryContent>
    </Page>
  );
}

function ChosenVersion({ read: { workflow } }: { read: WorkflowWithEtag }) {
  const [parameters, setParameters] = useSearchParams();
  const { id, version: latest, published_version: published, status } = workflow;
  const defaultVersion = published ?? latest;
  const requested = Number(parameters.get("version"));
  const version =
    Number.isInteger(requested) && requested >= 1 && requested <= latest ? requested : defaultVersion;
  const query = useQuery(versionQuery(id, version));
  if (status === "archived") {
    return <EmptyState title={texts.archivedWorkflow}>{texts.restoreToRun}</EmptyState>;
  }
  return (
    <Stack gap="lg" maw={720}>
      {latest > 1 && (
        <NativeSelect
          label={texts.version}
          description={
            version === defaultVersion
              ? undefined
              : texts.defaultVersion({
                  version: defaultVersion,
                  which: published === null ? "latest" : "published",
                })
          }
          value={version}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setParameters(
              (before) => {
                if (chosen === String(defaultVersion)) before.delete("version");
                else before.set("version", chosen);
                return before;
              },
              { replace: true },
            );
          }}
          data={Array.from({ length: latest }, (_, index) => latest - index).map((number) => ({
            value: String(number),
            label: texts.versionOption({
              version: number,
              published: number === published ? "yes" : "no",
              latest: number === latest ? "yes" : "no",
            }),
          }))}
          maw={260}
        />
      )}
      <QueryContent query={query}>
        {({ definition = null }) =>
          definition === null ? (
            <EmptyState title={texts.noDefinition}>{texts.versionHasNoDefinition({ version })}</EmptyState>
          ) : (
            <PrefilledForm
              key={version}
              workflowId={id}
              version={version}
              definition={definition}
              from={parameters.get("from")}
            />
          )
        }
      </QueryContent>
    </Stack>
  );
}

interface RunFormProps {
  workflowId: string;
  version: number;
  definition: Record<string, unknown>;
}

/** @param from the run whose inputs the form begins with; null for the defaults */
function PrefilledForm({ from, ...props }: RunFormProps & { from: string | null }) {
  const query = useQuery({ ...runInputsQuery(from ?? ""), enabled: from !== null });
  if (from === null) return <RunForm {...props} />;
  return (
    <QueryContent query={query}>
      {(inputs) => {
        const { known, unknown } = splitInputs(props.definition, inputs);
        return (
          <Stack gap="lg">
            <Text size="sm">
              {texts.earlierInputs({
                link: linkTo(`/runs/${from}`, { inherit: true }),
              })}
              {unknown.length > 0 &&
                ` ${texts.inputsLeftOut({ version: props.version, names: unknown.join(", ") })}`}
            </Text>
            <RunForm {...props} startInputs={known} />
          </Stack>
        );
      }}
    </QueryContent>
  );
}

/** @param startInputs the inputs that the form begins with, over the defaults */
function RunForm({
  workflowId,
  version,
  definition,
  startInputs,
}: RunFormProps & { startInputs?: Record<string, unknown> }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const may = useHasScope();
  const schema = inputSchemaOf(definition);
  const examples = parseExamples(definition);
  const [inputs, setInputs] = useState(() => ({ ...initialValue(schema), ...startInputs }));
  const headerFor = useIdempotencyHeader();
  const start = useMutation({
    mutationFn: () => {
      const body = { inputs, version };
      return send("post", "/workflows/{workflow_id}/runs", {
        path: { workflow_id: workflowId },
        header: headerFor(body),
        body,
      });
    },
    onSuccess: async ({ data }) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      await navigate(`/runs/${data.id}`);
    },
  });
  const issues = (start.error instanceof ApiError && start.error.problem.errors) || [];
  const isInvalid = start.error instanceof ApiError && start.error.code === "invalid_input";
  const inputIssues = issuesUnder(issues, "inputs");
  const otherIssues = issuesOutside(issues, ["inputs"]);
  const form = useFocusIssue(start.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="lg">
        {examples.length > 0 && (
          <Group gap="xs">
            <Text size="sm">{texts.examples}</Text>
            {examples.map(({ name, inputs: exampleInputs }) => (
              <Button
                key={name}
                size="compact-sm"
                variant="default"
                onClick={() => setInputs({ ...initialValue(schema), ...exampleInputs })}
              >
                {name}
              </Button>
            ))}
          </Group>
        )}
        <SchemaForm
          schema={schema}
          value={inputs}
          onChange={setInputs}
          issues={isInvalid ? inputIssues : []}
          disabled={start.isPending}
        />
        {start.isError && !(isInvalid && otherIssues.length === 0) && <ErrorAlert error={start.error} />}
        {isInvalid && inputIssues.length > 0 && (
          <Alert color="red" role="alert">
            {texts.notStarted({ count: inputIssues.length })}
          </Alert>
        )}
        {start.error instanceof ApiError && start.error.code === "workflow_not_runnable" && may("write") && (
          <Anchor component={Link} to={`/workflows/${workflowId}/edit`} size="sm">
            {texts.editDefinition}
          </Anchor>
        )}
        <Group>
          <Button
            type="submit"
            loading={start.isPending}
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
          >
            {texts.runVersion({ version })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
