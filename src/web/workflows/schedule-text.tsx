import { useQuery } from "@tanstack/react-query";
import { cronQuery } from "./queries.ts";

/** A cron expression in words; the expression itself until they are loaded. */
export function CronText({ cron }: { cron: string }) {
  const description = useQuery(cronQuery(cron));
  return <>{description.data ?? cron}</>;
}

/** The schedule of a definition; undefined when it has none with a cron expression. */
export function parseSchedule(
  definition: Record<string, unknown> | null,
): { cron: string; timezone: string } | undefined {
  const schedule = definition?.["schedule"];
  if (typeof schedule !== "object" || schedule === null) return undefined;
  const { cron, timezone } = schedule as Record<string, unknown>;
  return typeof cron === "string"
    ? { cron, timezone: typeof timezone === "string" ? timezone : "UTC" }
    : undefined;
}
