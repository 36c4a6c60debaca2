/** The form for a new subscription, or to change one. */
import { Button, Checkbox, Group, Modal, Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/notifications";
import * as uiTexts from "#texts/ui";
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
  secret: texts.urlHelpSecret,
  webhook: texts.urlHelpWebhook,
  chat: texts.urlHelpChat,
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
      title={
        subscription === undefined ? texts.newSubscription : texts.editTitle({ name: subscription.name })
      }
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
            label={texts.name}
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(save.error, "name")}
          />
          {several && subscription === undefined && (
            <Select
              label={texts.project}
              data={administered.map(({ id, name: label }) => ({ value: id, label }))}
              value={project ?? null}
              onChange={(value) => setProject(value ?? undefined)}
              allowDeselect={false}
              error={issueAt(save.error, "project")}
            />
          )}
          <Select
            label={texts.format}
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
            label={isSecret ? texts.secretWithUrl : texts.url}
            description={isChat ? URL_HELP.chat : isSecret ? URL_HELP.secret : URL_HELP.webhook}
            placeholder={isSecret ? "slack_alerts" : "https://example.com/hooks/millrace"}
            required
            autoComplete="off"
            value={target}
            onChange={(event) => setTarget(event.currentTarget.value)}
            error={issueAt(save.error, isSecret ? "url_secret" : "url") ?? issueAt(save.error, "url")}
          />
          <Checkbox.Group
            label={texts.events}
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
            label={texts.workflows}
            description={texts.workflowsHelp}
            value={workflows}
            onChange={(ids) => {
              setWorkflows(ids);
              save.reset();
            }}
            error={workflowIssue}
          />
          <TagsInput
            label={texts.tags}
            description={texts.tagsHelp}
            value={tags}
            onChange={setTags}
            error={issueAt(save.error, "tags")}
          />
          {!isChat && (
            <Checkbox
              label={texts.includeValues}
              description={texts.includeValuesHelp}
              checked={values}
              onChange={(event) => setValues(event.currentTarget.checked)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {uiTexts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={events.length === 0}>
              {subscription === undefined ? texts.create : texts.save}
            </Button>
          </Group>
          {!isChat && subscription === undefined && (
            <Text size="xs" c="dimmed">
              {texts.shownOnce}
            </Text>
          )}
        </Stack>
      </form>
    </Modal>
  );
}
