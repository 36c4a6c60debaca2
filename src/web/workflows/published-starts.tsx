/** What starts runs of a definition once it is published, as items of a list. */
import { List } from "@mantine/core";
import * as texts from "#texts/workflows";
import { codeTag } from "../ui/message-tags.tsx";
import { CronText, parseSchedule } from "./schedule-text.tsx";
import { triggerIds } from "./trigger-ids.ts";

export function PublishedStarts({ definition }: { definition: Record<string, unknown> }) {
  const schedule = parseSchedule(definition);
  const webhooks = triggerIds(definition);
  if (schedule === undefined && webhooks.length === 0) return <List.Item>{texts.startsNothing}</List.Item>;
  return (
    <>
      {schedule !== undefined && (
        <List.Item>
          {texts.publishedSchedule({ cron: <CronText cron={schedule.cron} />, timezone: schedule.timezone })}
        </List.Item>
      )}
      {webhooks.map((id) => (
        <List.Item key={id}>{texts.publishedWebhook({ id, code: codeTag })}</List.Item>
      ))}
    </>
  );
}
