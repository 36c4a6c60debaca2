import { z } from "zod";
import { ProjectFilter } from "../../schemas/project.ts";
import {
  type DayStatistics,
  MAX_DAYS,
  MAX_FAILING,
  MAX_FAILURES,
  RunStatistics,
  TimeZoneName,
} from "../../schemas/run-statistics.ts";
import type { RunStatus } from "../../schemas/run-status.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { WorkflowFailures } from "../../src/core/run-ports.ts";
import { type TimeZone, timeZone } from "../../src/core/time-zone.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import type { WorkflowBrief } from "../../src/core/workflow-ports.ts";
import { assertProjectFilter } from "../projects/find-project.ts";

export const getRunStatistics = defineTool({
  name: "get_run_statistics",
  title: "Get run statistics",
  description:
    "Returns how many runs succeeded and failed on each of the last days, and which workflows failed most. Trials do not count.",
  route: "GET /run-statistics",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["project_not_found"],
  input: z.strictObject({
    days: z
      .int()
      .min(1)
      .max(MAX_DAYS)
      .default(14)
      .meta({ description: `Number of days, today included; 1 to ${MAX_DAYS}.` }),
    timezone: TimeZoneName.default("UTC"),
    project: ProjectFilter,
  }),
  output: RunStatistics,
  async run({ days, timezone, project }, ctx) {
    await assertProjectFilter(ctx, project);
    const bounds = lastDays(days, zoneOf(timezone), ctx.now());
    const statistics: DayStatistics[] = [];
    // One after the other: each reads up to 10,000 entries of an index.
    for (const day of bounds) {
      const filter = { project, isTrial: false, since: day.from, until: day.to };
      const succeeded = await ctx.read.runs.count({ ...filter, status: ["succeeded"] });
      const failed = await ctx.read.runs.count({ ...filter, status: ["failed"] });
      statistics.push({ ...day, succeeded, failed });
    }
    return { days: statistics, ...(await failing(ctx, { project, since: bounds[0]!.from })) };
  },
});

/** The workflows with failed runs since a time. */
async function failing(
  { read }: Pick<ToolContext, "read">,
  { project, since }: { project: string | undefined; since: string },
): Promise<Pick<RunStatistics, "failing" | "failing_capped">> {
  const found = await read.runs.failuresByWorkflow({
    filter: { project, since, isTrial: false },
    limit: MAX_FAILURES,
  });
  const shown = await withBriefs(read, found.workflows);
  const latest = await read.runs.latestByWorkflow(shown.map(({ workflowId }) => workflowId));
  const items = shown.map((workflow) => serializeFailing(workflow, latest.get(workflow.workflowId)?.status));
  return { failing: items, ...(found.isCapped && { failing_capped: true }) };
}

interface FailingWorkflow extends WorkflowFailures {
  brief: WorkflowBrief;
}

const serializeFailing = (
  { workflowId, failed, lastFailedAt, lastRunId, brief }: FailingWorkflow,
  lastStatus: RunStatus = "failed",
) => ({
  workflow_id: workflowId,
  name: brief.name,
  ...(brief.project !== undefined && { project: brief.project }),
  failed,
  last_failed_at: lastFailedAt,
  last_failed_run: lastRunId,
  last_status: lastStatus,
});

/** The first workflows that are not archived, up to the maximum of the list. */
async function withBriefs(
  { workflows }: ToolContext["read"],
  failures: readonly WorkflowFailures[],
): Promise<FailingWorkflow[]> {
  const shown: FailingWorkflow[] = [];
  for (let from = 0; from < failures.length && shown.length < MAX_FAILING; from += MAX_FAILING) {
    const part = failures.slice(from, from + MAX_FAILING);
    const read = await workflows.briefs(part.map(({ workflowId }) => workflowId));
    const briefs = new Map(read.map((brief) => [brief.id, brief]));
    for (const failure of part) {
      const brief = briefs.get(failure.workflowId);
      if (brief !== undefined && brief.status !== "archived") shown.push({ ...failure, brief });
    }
  }
  return shown.slice(0, MAX_FAILING);
}

/** The last days in a time zone, oldest first, with when each begins and ends. @param now milliseconds since 1970 */
function lastDays(count: number, zone: TimeZone, now: number): Pick<DayStatistics, "date" | "from" | "to">[] {
  const today = Math.floor(zone.toLocal(now) / DAY) * DAY;
  return Array.from({ length: count }, (_, index) => {
    const midnight = today - (count - 1 - index) * DAY;
    return {
      date: iso(midnight).slice(0, 10),
      from: iso(zone.toMoment(midnight)),
      to: iso(zone.toMoment(midnight + DAY)),
    };
  });
}

/** @throws AppError invalid_input for an unknown name */
function zoneOf(name: string): TimeZone {
  try {
    return timeZone(name);
  } catch {
    throw invalidInput([
      {
        path: "timezone",
        code: "wrong_format",
        message: `names an unknown time zone, got ${name}`,
        fix: "Send an IANA name, such as Europe/Berlin, or leave it out for UTC.",
      },
    ]);
  }
}
