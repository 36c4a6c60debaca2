/** The form for a new subscription. */
import { Button, Checkbox, Group, Modal, Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SubscriptionFormat } from "../../../schemas/subscription.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { useProjects } from "../projects/use-projects.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { EVENT_LABELS, FORMAT_LABELS } from "./labels.ts";
import type { Created } from "./notifications.tsx";

type EventName = keyof typeof EVENT_LABELS;

const FIELDS = ["name", "url", "url_secret", "events", "tags", "project"];
const URL_HELP = {
  webhook: "Where the deliveries go. Private addresses must be allowed in the configuration.",
  chat: "The name of a secret in the configuration whose value is the URL of the chat's webhook, because who knows that URL can post.",
};

export function CreateSubscription({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (created: Created) => void;
}) {
  const client = useQueryClient();
  const { projects, several, chosen } = useProjects();
  const administered = projects.filter(({ scopes }) => scopes.includes("admin"));
  const [project, setProject] = useState(chosen ?? administered[0]?.id);
  const [name, setName] = useState("");
  const [format, setFormat] = useState<SubscriptionFormat>("standard_webhooks");
  const [target, setTarget] = useState("");
  const [events, setEvents] = useState<string[]>(["run.failed", "workflow.overdue"]);
  const [tags, setTags] = useState<string[]>([]);
  const [values, setValues] = useState(false);
  const isChat = format !== "standard_webhooks";
  const create = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/subscriptions", {
        body: {
          name,
          format,
          ...(isChat ? { url_secret: target.trim() } : { url: target.trim() }),
          events: events as EventName[],
          ...(tags.length > 0 && { tags }),
          ...(!isChat && { include_values: values }),
          ...(several && project !== undefined && { project }),
        },
      }),
    onSuccess: ({ data }) => onCreated(data),
    onSettled: () => client.invalidateQueries({ queryKey: ["subscriptions"] }),
  });
  const formError = formLevelError(create.error, FIELDS);
  return (
    <Modal opened onClose={onClose} title="New subscription" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
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
            error={issueAt(create.error, "name")}
          />
          {several && (
            <Select
              label="Project"
              data={administered.map(({ id, name: label }) => ({ value: id, label }))}
              value={project ?? null}
              onChange={(value) => setProject(value ?? undefined)}
              allowDeselect={false}
              error={issueAt(create.error, "project")}
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
              create.reset();
            }}
            allowDeselect={false}
          />
          <TextInput
            label={isChat ? "Secret with the URL" : "URL"}
            description={isChat ? URL_HELP.chat : URL_HELP.webhook}
            placeholder={isChat ? "slack_alerts" : "https://example.com/hooks/millrace"}
            required
            autoComplete="off"
            value={target}
            onChange={(event) => setTarget(event.currentTarget.value)}
            error={issueAt(create.error, isChat ? "url_secret" : "url") ?? issueAt(create.error, "url")}
          />
          <Checkbox.Group
            label="Events"
            value={events}
            onChange={setEvents}
            error={issueAt(create.error, "events")}
          >
            <Stack gap={6} mt={6}>
              {Object.entries(EVENT_LABELS).map(([value, label]) => (
                <Checkbox key={value} value={value} label={label} description={value} />
              ))}
            </Stack>
          </Checkbox.Group>
          <TagsInput
            label="Tags (optional)"
            description="Only events of workflows with one of these tags. Press Enter to add one."
            value={tags}
            onChange={setTags}
            error={issueAt(create.error, "tags")}
          />
          {!isChat && (
            <Checkbox
              label="With the inputs and outputs of runs"
              description="Leave it out unless the receiver may see them."
              checked={values}
              onChange={(event) => setValues(event.currentTarget.checked)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={events.length === 0}>
              Create
            </Button>
          </Group>
          {!isChat && (
            <Text size="xs" c="dimmed">
              The signing secret is shown only once, after you create it.
            </Text>
          )}
        </Stack>
      </form>
    </Modal>
  );
}
