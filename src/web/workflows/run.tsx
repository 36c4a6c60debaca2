/** Starting a run: which version, and what it is to take. */
import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { ApiError, send } from "../api/client.ts";
import { useMay } from "../app/session.tsx";
import { below, besides } from "../forms/faults.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { useFocusFault } from "../forms/use-focus-fault.ts";
import { useOnce } from "../runs/use-once.ts";
import { NotForYou } from "../ui/not-for-you.tsx";
import { Empty, Failed, Loaded, Page } from "../ui/page.tsx";
import { examplesOf, inputsOf } from "./inputs.ts";
import { type Read, versionQuery, workflowQuery } from "./queries.ts";

export default function RunWorkflow() {
  const { workflowId = "" } = useParams();
  const may = useMay();
  const query = useQuery({ ...workflowQuery(workflowId), enabled: may("run") });
  const back = `/workflows/${workflowId}`;
  if (!may("run")) return <NotForYou title="Run" needs="an editor" />;
  return (
    <Page
      title={`Run ${query.data?.workflow.name ?? workflowId}`}
      about={
        <Anchor component={Link} to={back} size="sm">
          To the workflow
        </Anchor>
      }
    >
      <Loaded query={query}>{(read) => <ChosenVersion read={read} />}</Loaded>
    </Page>
  );
}

function ChosenVersion({ read: { workflow } }: { read: Read }) {
  const [parameters, setParameters] = useSearchParams();
  const { id, version: newest, published_version: live, status } = workflow;
  const usual = live ?? newest;
  const asked = Number(parameters.get("version"));
  const version = Number.isInteger(asked) && asked >= 1 && asked <= newest ? asked : usual;
  const query = useQuery(versionQuery(id, version));
  if (status === "archived") {
    return <Empty title="It is archived">It runs no more. Restore it on its page to run it again.</Empty>;
  }
  return (
    <Stack gap="lg" maw={720}>
      {newest > 1 && (
        <NativeSelect
          label="Version"
          description={
            version === usual
              ? undefined
              : `Usually version ${usual} runs, the ${live === null ? "newest" : "published"} one.`
          }
          value={version}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setParameters(chosen === String(usual) ? {} : { version: chosen }, { replace: true });
          }}
          data={Array.from({ length: newest }, (_, index) => newest - index).map((number) => ({
            value: String(number),
            label: `${number}${number === live ? " (published)" : ""}${number === newest ? " (newest)" : ""}`,
          }))}
          maw={260}
        />
      )}
      <Loaded query={query}>
        {({ definition = null }) =>
          definition === null ? (
            <Empty title="Nothing to run yet">Version {version} has no definition.</Empty>
          ) : (
            <Start key={version} workflowId={id} version={version} definition={definition} />
          )
        }
      </Loaded>
    </Stack>
  );
}

interface StartProps {
  workflowId: string;
  version: number;
  definition: Record<string, unknown>;
}

function Start({ workflowId, version, definition }: StartProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const may = useMay();
  const schema = inputsOf(definition);
  const examples = examplesOf(definition);
  const [inputs, setInputs] = useState(() => initialValue(schema));
  const once = useOnce();
  const start = useMutation({
    mutationFn: () => {
      const body = { inputs, version };
      return send("post", "/workflows/{workflow_id}/runs", {
        path: { workflow_id: workflowId },
        header: once(body),
        body,
      });
    },
    onSuccess: async ({ data }) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      await navigate(`/runs/${data.id}`);
    },
  });
  const faults = (start.error instanceof ApiError && start.error.problem.errors) || [];
  const isRefused = start.error instanceof ApiError && start.error.code === "invalid_input";
  const inside = below(faults, "inputs");
  const outside = besides(faults, ["inputs"]);
  const form = useFocusFault(start.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="lg">
        {examples.length > 0 && (
          <Group gap="xs">
            <Text size="sm">Fill in from an example:</Text>
            {examples.map(({ name, inputs: given }) => (
              <Button
                key={name}
                size="compact-sm"
                variant="default"
                onClick={() => setInputs({ ...initialValue(schema), ...given })}
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
          faults={isRefused ? inside : []}
          disabled={start.isPending}
        />
        {start.isError && !(isRefused && outside.length === 0) && <Failed error={start.error} />}
        {isRefused && inside.length > 0 && (
          <Alert color="red" role="alert">
            It did not start: {inside.length === 1 ? "one input does" : `${inside.length} inputs do`} not fit.
            See above.
          </Alert>
        )}
        {start.error instanceof ApiError && start.error.code === "workflow_not_runnable" && may("write") && (
          <Anchor component={Link} to={`/workflows/${workflowId}/edit`} size="sm">
            Edit the definition
          </Anchor>
        )}
        <Group>
          <Button
            type="submit"
            loading={start.isPending}
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
          >
            Run version {version}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
