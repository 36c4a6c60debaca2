/** Edits the name, description and tags of a workflow, which creates a version. */
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
import { fieldError } from "../forms/field-error.tsx";
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
  // The initial state must not change when the page refetches the workflow.
  const [initial] = useState(read);
  const [latest, setLatest] = useState(read);
  const { name, description, tags } = initial.workflow;
  const [details, setDetails] = useState<Details>({ name, description, tags });
  const [reason, setReason] = useState("");
  const { id } = read.workflow;
  const changed = Object.fromEntries(
    DETAIL_FIELDS.filter(
      (field) => JSON.stringify(details[field]) !== JSON.stringify(initial.workflow[field]),
    ).map((field) => [field, details[field]]),
  );
  const save = useMutation({
    mutationFn: () =>
      send("patch", "/workflows/{workflow_id}", {
        path: { workflow_id: id },
        header: { "If-Match": latest.etag },
        body: { ...changed, ...(reason.trim() !== "" && { reason }) },
      }),
    onSuccess: ({ data }) => {
      notifySuccess(`Saved as version ${data.version}.`);
      onClose();
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 412)) return;
      const current = await readWorkflow(id);
      setLatest(current);
      client.setQueryData(workflowQuery(id).queryKey, current);
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
    <Modal opened onClose={onClose} title="Edit details" size="lg" centered>
      <form ref={form} onSubmit={submit} noValidate>
        <Stack gap="md">
          <DetailsFields details={details} onChange={setDetails} issues={issues} />
          <TextInput
            label="Change note (optional)"
            description="Kept in the history."
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            error={issueText(issuesUnder(issues, "reason"))}
          />
          {isStale && latest !== initial && <OtherChanges initial={initial} latest={latest} />}
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
              {isStale ? "Save anyway" : "Save"}
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
        error={fieldError(issuesUnder(issues, "name"), (name) => onChange({ ...details, name }))}
      />
      <Textarea
        label="Description"
        description="What the workflow does, in one or two sentences. Agents and people choose workflows by it."
        autosize
        minRows={2}
        maxRows={10}
        value={details.description}
        onChange={(event) => onChange({ ...details, description: event.currentTarget.value })}
        error={fieldError(issuesUnder(issues, "description"), (description) =>
          onChange({ ...details, description }),
        )}
      />
      <TagsInput
        label="Tags"
        description="Labels to filter by. Press Enter to add one."
        value={details.tags}
        onChange={(tags) => onChange({ ...details, tags })}
        error={issueText(issuesUnder(issues, "tags"))}
        maxTags={20}
      />
    </>
  );
}

/** What someone else changed since the dialog was opened. */
function OtherChanges({ initial, latest }: { initial: WorkflowWithEtag; latest: WorkflowWithEtag }) {
  const changes = describeChanges(initial.workflow, latest.workflow);
  const isRedefined = !isSameDefinition(initial.workflow.definition, latest.workflow.definition);
  return (
    <Alert
      color="yellow"
      role="alert"
      title="Changed by someone else"
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Text size="sm">Your changes are not saved yet. Since you opened this dialog:</Text>
      <List size="sm" mt={4}>
        {changes.map((sentence) => (
          <List.Item key={sentence}>{sentence}</List.Item>
        ))}
        {isRedefined && <List.Item>The definition was changed. Saving keeps it.</List.Item>}
        {changes.length === 0 && !isRedefined && (
          <List.Item>
            The workflow is now {latest.workflow.status}, version {latest.workflow.version}.
          </List.Item>
        )}
      </List>
    </Alert>
  );
}
