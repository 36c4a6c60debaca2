/** The form for a new subscription, or to change one. */
import { Button, Checkbox, Group, Modal, Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Subscription, SubscriptionFormat } from "../../../schemas/subscription.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { useProjects } from "../projects/use-projects.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { EVENT_LABELS, FORMAT_LABELS } from "./labels.ts";
import type { Created } from "./notifications.tsx";

type EventName = keyof typeof EVENT_LABELS;

const FIELDS = ["name", "url", "url_secret", "events", "workflows", "tags", "project"];
const URL_HELP = {
  secret: "The name of a secret in the configuration whose value is the URL.",
  webhook: "Where the deliveries go. Private addresses must be allowed in the configuration.",
  chat: "The name of a secret in the configuration whose value is the URL of the chat's webhook, because who knows that URL can post.",
};

export function SubscriptionDialog({
  subscription,
  onClose,
  onCreated,
}: {
  /** The one to change; left out for a new one. */
  subscription?: Subscription;
  onClose: () => void;
  onCreated?: (created: Created) => void;
}) {
  const client = useQueryClient();
  const { projects, several, chosen } = useProjects();
  const administered = projects.filter(({ scopes }) => scopes.includes("admin"));
  const [project, setProject] = useState(chosen ?? administered[0]?.id);
  const [name, setName] = useState(subscription?.name ?? "");
  const [format, setFormat] = useState<SubscriptionFormat>(subscription?.format ?? "standard_webhooks");
  const [target, setTarget] = useState(subscription?.url ?? subscription?.url_secret ?? "");
  // A webhook's URL may be the value of a secret too, which the command line sets.
  const isSecret = format !== "standard_webhooks" || typeof subscription?.url_secret === "string";
  const [events, setEvents] = useState<string[]>(subscription?.events ?? ["run.failed", "workflow.overdue"]);
  const [workflows, setWorkflows] = useState<string[]>(subscription?.workflows ?? []);
  const [tags, setTags] = useState<string[]>(subscription?.tags ?? []);
  const [values, setValues] = useState(subscription?.include_values ?? false);
  const isChat = format !== "standard_webhooks";
  const save = useSingleFlightMutation({
    mutationFn: async () => {
      const body = {
        name,
        ...(isSecret ? { url_secret: target.trim() } : { url: target.trim() }),
        events: events as EventName[],
        workflows: workflows.length > 0 ? workflows : null,
        tags: tags.length > 0 ? tags : null,
        ...(!isChat && { include_values: values }),
      };
      if (subscription !== undefined) {
        const path = { subscription_id: subscription.id };
        await send("patch", "/subscriptions/{subscription_id}", { path, body });
        return undefined;
      }
      const chosenProject = several && project !== undefined && { project };
      return (await send("post", "/subscriptions", { body: { ...body, format, ...chosenProject } })).data;
    },
    onSuccess: (created) => (created === undefined ? onClose() : onCreated?.(created)),
    onSettled: () => client.invalidateQueries({ queryKey: ["subscriptions"] }),
  });
  // The issue of an item is about one of the list.
  const workflowPaths = workflows.map((_, index) => `workflows[${index}]`);
  const workflowIssue = ["workflows", ...workflowPaths]
    .map((path) => issueAt(save.error, path))
    .find((issue) => issue !== undefined);
  const formError = formLevelError(save.error, [...FIELDS, ...workflowPaths]);
  return (
    <Modal
      opened
      onClose={onClose}
      title={subscription === undefined ? "New subscription" : `Edit “${subscription.name}”`}
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label="Name"
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(save.error, "name")}
          />
          {several && subscription === undefined && (
            <Select
              label="Project"
              data={administered.map(({ id, name: label }) => ({ value: id, label }))}
              value={project ?? null}
              onChange={(value) => setProject(value ?? undefined)}
              allowDeselect={false}
              error={issueAt(save.error, "project")}
            />
          )}
          <Select
            label="Format"
            data={Object.entries(FORMAT_LABELS).map(([value, label]) => ({ value, label }))}
            value={format}
            onChange={(value) => {
              if (value === null) return;
              setFormat(value as SubscriptionFormat);
              setTarget("");
              save.reset();
            }}
            allowDeselect={false}
            disabled={subscription !== undefined}
          />
          <TextInput
            label={isSecret ? "Secret with the URL" : "URL"}
            description={isChat ? URL_HELP.chat : isSecret ? URL_HELP.secret : URL_HELP.webhook}
            placeholder={isSecret ? "slack_alerts" : "https://example.com/hooks/millrace"}
            required
            autoComplete="off"
            value={target}
            onChange={(event) => setTarget(event.currentTarget.value)}
            error={issueAt(save.error, isSecret ? "url_secret" : "url") ?? issueAt(save.error, "url")}
          />
          <Checkbox.Group
            label="Events"
            value={events}
            onChange={setEvents}
            error={issueAt(save.error, "events")}
          >
            <Stack gap={6} mt={6}>
              {Object.entries(EVENT_LABELS).map(([value, label]) => (
                <Checkbox key={value} value={value} label={label} description={value} />
              ))}
            </Stack>
          </Checkbox.Group>
          <TagsInput
            label="Workflows (optional)"
            description="Only events of the workflows with these ids. Press Enter to add one."
            value={workflows}
            onChange={(ids) => {
              setWorkflows(ids);
              save.reset();
            }}
            error={workflowIssue}
          />
          <TagsInput
            label="Tags (optional)"
            description="Only events of workflows with one of these tags. Press Enter to add one."
            value={tags}
            onChange={setTags}
            error={issueAt(save.error, "tags")}
          />
          {!isChat && (
            <Checkbox
              label="With the inputs and outputs of runs"
              description="Leave it out unless the receiver may see them. They are sent while you can read them."
              checked={values}
              onChange={(event) => setValues(event.currentTarget.checked)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={events.length === 0}>
              {subscription === undefined ? "Create" : "Save"}
            </Button>
          </Group>
          {!isChat && subscription === undefined && (
            <Text size="xs" c="dimmed">
              The signing secret is shown only once, after you create it.
            </Text>
          )}
        </Stack>
      </form>
    </Modal>
  );
}
