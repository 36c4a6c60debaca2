/** Name, description and tags of a workflow: changing them makes a version, and nobody's change is lost. */
import {
  Alert,
  Button,
  Group,
  List,
  Modal,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, send } from "../api/client.ts";
import { issuesUnder, issuesOutside, issueText } from "../forms/issues.ts";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { describeChanges, isSameDefinition } from "./describe-changes.ts";
import { readWorkflow, invalidateWorkflows, type WorkflowWithEtag, workflowQuery } from "./queries.ts";

export const DETAIL_FIELDS = ["name", "description", "tags"] as const;
export interface Details {
  name: string;
  description: string;
  tags: string[];
}

export function DetailsDialog({ read, onClose }: { read: WorkflowWithEtag; onClose: () => void }) {
  const client = useQueryClient();
  // What was begun from stays what it was, whatever the page learns meanwhile.
  const [begun] = useState(read);
  const [seen, setSeen] = useState(read);
  const { name, description, tags } = begun.workflow;
  const [details, setDetails] = useState<Details>({ name, description, tags });
  const [reason, setReason] = useState("");
  const { id } = read.workflow;
  const changed = Object.fromEntries(
    DETAIL_FIELDS.filter(
      (field) => JSON.stringify(details[field]) !== JSON.stringify(begun.workflow[field]),
    ).map((field) => [field, details[field]]),
  );
  const save = useMutation({
    mutationFn: () =>
      send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": seen.etag },
        body: { ...changed, ...(reason.trim() !== "" && { reason }) },
      }),
    onSuccess: ({ data }) => {
      notifySuccess(`Saved as version ${data.version}.`);
      onClose();
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 412)) return;
      const now = await readWorkflow(id);
      setSeen(now);
      client.setQueryData(workflowQuery(id).queryKey, now);
    },
    onSettled: () => invalidateWorkflows(client),
  });
  const issues = (save.error instanceof ApiError && save.error.problem.errors) || [];
  const isStale = save.error instanceof ApiError && save.error.status === 412;
  const form = useFocusIssue(save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(changed).length === 0) onClose();
    else save.mutate();
  };
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title="Name, description and tags" size="lg" centered>
      <form ref={form} onSubmit={submit} noValidate>
        <Stack gap="md">
          <DetailsFields details={details} onChange={setDetails} issues={issues} />
          <TextInput
            label="Why is it changed?"
            description="Stays in the history. May be left empty."
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            error={issueText(issuesUnder(issues, "reason"))}
          />
          {isStale && seen !== begun && <Theirs begun={begun} seen={seen} />}
          {save.isError &&
            !isStale &&
            (issues.length === 0 || issuesOutside(issues, [...DETAIL_FIELDS, "reason"]).length > 0) && (
              <ErrorAlert error={save.error} />
            )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {isStale ? "Save mine on top" : "Save"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface DetailsFieldsProps {
  details: Details;
  onChange: (details: Details) => void;
  issues: Parameters<typeof issueText>[0];
}

/** The three fields, with what the server says of each. */
export function DetailsFields({ details, onChange, issues }: DetailsFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        withAsterisk
        aria-required
        data-autofocus
        value={details.name}
        onChange={(event) => onChange({ ...details, name: event.currentTarget.value })}
        error={issueText(issuesUnder(issues, "name"))}
      />
      <Textarea
        label="Description"
        description="What it is for, in a sentence or two: agents and people choose workflows by it."
        autosize
        minRows={2}
        maxRows={10}
        value={details.description}
        onChange={(event) => onChange({ ...details, description: event.currentTarget.value })}
        error={issueText(issuesUnder(issues, "description"))}
      />
      <TagsInput
        label="Tags"
        description="Words to filter by. Enter adds one."
        value={details.tags}
        onChange={(tags) => onChange({ ...details, tags })}
        error={issueText(issuesUnder(issues, "tags"))}
        maxTags={20}
      />
    </>
  );
}

/** What somebody else did meanwhile. */
function Theirs({ begun, seen }: { begun: WorkflowWithEtag; seen: WorkflowWithEtag }) {
  const words = describeChanges(begun.workflow, seen.workflow);
  const isRedefined = !isSameDefinition(begun.workflow.definition, seen.workflow.definition);
  return (
    <Alert
      color="yellow"
      role="alert"
      title="Somebody changed it in the meantime"
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Text size="sm">Nothing of yours is saved yet, and nothing is lost. Since you began:</Text>
      <List size="sm" mt={4}>
        {words.map((sentence) => (
          <List.Item key={sentence}>{sentence}</List.Item>
        ))}
        {isRedefined && <List.Item>The definition was changed; it stays as it is now.</List.Item>}
        {words.length === 0 && !isRedefined && (
          <List.Item>
            It is {seen.workflow.status} now, at version {seen.workflow.version}.
          </List.Item>
        )}
      </List>
    </Alert>
  );
}
