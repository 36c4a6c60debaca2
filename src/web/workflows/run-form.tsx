/** The form of a run's inputs, with the examples of the definition. */
import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { issuesUnder, issuesOutside } from "../forms/issues.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { parseExamples, inputSchemaOf } from "./inputs.ts";

interface RunFormProps {
  workflowId: string;
  version: number;
  definition: Record<string, unknown>;
  /** The inputs to begin with; by default those that the definition gives. */
  inputs?: Readonly<Record<string, unknown>> | undefined;
}

export function RunForm({ workflowId, version, definition, inputs: given }: RunFormProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const may = useHasScope();
  const schema = inputSchemaOf(definition);
  const examples = parseExamples(definition);
  const [inputs, setInputs] = useState(() => ({ ...initialValue(schema), ...given }));
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
            <Text size="sm">Examples:</Text>
            {examples.map(({ name, inputs: values }) => (
              <Button
                key={name}
                size="compact-sm"
                variant="default"
                onClick={() => setInputs({ ...initialValue(schema), ...values })}
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
            Not started. Fix {inputIssues.length === 1 ? "1 input" : `${inputIssues.length} inputs`} above.
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
