/** A schedule as a definition writes it, and in words. */
import { useQuery } from "@tanstack/react-query";
import { cronQuery } from "./queries.ts";

/** A cron expression in words, and as it is until they are there. */
export function CronText({ cron }: { cron: string }) {
  const words = useQuery(cronQuery(cron));
  return <>{words.data ?? cron}</>;
}

/** The schedule that a definition asks for, as far as it is written. */
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
