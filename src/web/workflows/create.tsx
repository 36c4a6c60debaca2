/** Creates a workflow from a template. */
import { Button, Group, Radio, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useTargetProject } from "../projects/target-project.tsx";
import { issuesOutside } from "../forms/issues.ts";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { AccessDenied } from "../ui/access-denied.tsx";
import { ErrorAlert, Page } from "../ui/page.tsx";
import classes from "./create.module.css";
import { type Details, DetailsFields, DETAIL_FIELDS } from "./details-dialog.tsx";
import { IdField, idInBody } from "./id-field.tsx";
import { invalidateWorkflows } from "./queries.ts";
import { BLANK_TEMPLATE, TEMPLATES } from "./templates.ts";

export default function CreateWorkflow() {
  const may = useHasScope();
  if (!may("write")) return <AccessDenied title="New workflow" needs="editors and admins" />;
  return <CreateForm />;
}

function CreateForm() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [template, setTemplate] = useState(BLANK_TEMPLATE);
  const target = useTargetProject();
  const [edited, setEdited] = useState<Partial<Details>>({});
  const [chosenId, setChosenId] = useState("");
  const headerFor = useIdempotencyHeader();
  const { name, description, tags } = template;
  const details: Details = { name, description, tags, ...edited };
  const create = useMutation({
    mutationFn: () => {
      const body = { ...details, ...idInBody(chosenId), definition: template.definition, ...target.body };
      return send("post", "/workflows", { header: headerFor(body), body });
    },
    onSuccess: async ({ data }) => {
      void invalidateWorkflows(client);
      await navigate(`/workflows/${data.id}/edit`, { replace: true });
    },
  });
  const issues = (create.error instanceof ApiError && create.error.problem.errors) || [];
  const change = (changed: Details) => {
    // Only fields that the user edited survive a change of template.
    const fields = DETAIL_FIELDS.filter((field) => field in edited || changed[field] !== details[field]);
    setEdited(Object.fromEntries(fields.map((field) => [field, changed[field]])));
  };
  const form = useFocusIssue(create.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Page title="New workflow">
      <form ref={form} onSubmit={submit} noValidate>
        <Stack gap="lg" maw={900}>
          <Radio.Group
            label="Template"
            value={template.id}
            onChange={(id) => setTemplate(TEMPLATES.find((it) => it.id === id) ?? BLANK_TEMPLATE)}
          >
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="xs">
              <Choice id={BLANK_TEMPLATE.id} title="Blank" about="A single step to start from." />
              {TEMPLATES.map((it) => (
                <Choice key={it.id} id={it.id} title={it.name} about={it.description} needs={it.needs} />
              ))}
            </SimpleGrid>
          </Radio.Group>
          {target.select}
          <DetailsFields details={details} onChange={change} issues={issues} />
          <IdField id={chosenId} onChange={setChosenId} issues={issues} />
          {create.isError &&
            (issues.length === 0 || issuesOutside(issues, [...DETAIL_FIELDS, "id"]).length > 0) && (
              <ErrorAlert error={create.error} />
            )}
          <Group>
            <Button type="submit" loading={create.isPending}>
              Create and edit
            </Button>
            <Button component={Link} to="/workflows" variant="default">
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

interface ChoiceProps {
  id: string;
  title: string;
  about: string;
  needs?: string;
}

function Choice({ id, title, about, needs = "" }: ChoiceProps) {
  return (
    <Radio.Card value={id} p="md" className={classes["card"]} aria-labelledby={`template-${id}`}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator />
        <div>
          <Text fw={600} size="sm" id={`template-${id}`}>
            {title}
          </Text>
          <Text size="sm" c="dimmed">
            {about}
          </Text>
          {needs !== "" && (
            <Text size="xs" mt={4}>
              Requires {needs}.
            </Text>
          )}
        </div>
      </Group>
    </Radio.Card>
  );
}
