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
import * as texts from "#texts/workflows";
import { ApiError, send } from "../api/client.ts";
import { issuesUnder, issuesOutside, issueText } from "../forms/issues.ts";
import { useFocusIssue } from "../forms/use-focus-issue.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { describeChanges, isSameDefinition } from "./describe-changes.ts";
import { SameName } from "./same-name.tsx";
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
      notifySuccess(texts.savedAs({ version: data.version }));
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
    <Modal opened onClose={onClose} title={texts.editDetails} size="lg" centered>
      <form ref={form} onSubmit={submit} noValidate>
        <Stack gap="md">
          <DetailsFields details={details} onChange={setDetails} issues={issues} ownId={id} />
          <TextInput
            label={texts.changeNote}
            description={texts.changeNoteHelp}
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
              {texts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {isStale ? texts.saveAnyway : texts.save}
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
  /** The id of the workflow; left out for a new one. */
  ownId?: string;
}

export function DetailsFields({ details, onChange, issues, ownId }: DetailsFieldsProps) {
  return (
    <>
      <TextInput
        label={texts.name}
        withAsterisk
        aria-required
        data-autofocus
        value={details.name}
        onChange={(event) => onChange({ ...details, name: event.currentTarget.value })}
        error={issueText(issuesUnder(issues, "name"))}
      />
      <SameName name={details.name} ownId={ownId} />
      <Textarea
        label={texts.description}
        description={texts.descriptionHelp}
        autosize
        minRows={2}
        maxRows={10}
        value={details.description}
        onChange={(event) => onChange({ ...details, description: event.currentTarget.value })}
        error={issueText(issuesUnder(issues, "description"))}
      />
      <TagsInput
        label={texts.tags}
        description={texts.tagsHelp}
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
      title={texts.changedByOther}
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Text size="sm">{texts.changedByOtherHelp}</Text>
      <List size="sm" mt={4}>
        {changes.map((sentence) => (
          <List.Item key={sentence}>{sentence}</List.Item>
        ))}
        {isRedefined && <List.Item>{texts.definitionChanged}</List.Item>}
        {changes.length === 0 && !isRedefined && (
          <List.Item>
            {texts.workflowIsNow({ status: latest.workflow.status, version: latest.workflow.version })}
          </List.Item>
        )}
      </List>
    </Alert>
  );
}
