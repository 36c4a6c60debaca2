import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { ScheduleState } from "../../schemas/schedule-state.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { scheduleState } from "./schedule-state.ts";

export const listSchedules = defineTool({
  name: "list_schedules",
  title: "List schedules",
  description:
    "Lists the schedules of published workflows, the next one first, paused ones last. One that runs while you page through " +
    "the list moves, and may be listed twice.",
  route: "GET /schedules",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["project_not_found", "invalid_cursor"],
  page: { item: ScheduleState, mcpLimit: 50 },
  input: z.strictObject({ project: ProjectFilter, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(ScheduleState),
  async run({ project, limit, cursor }, ctx) {
    await assertProjectFilter(ctx, project);
    const filter = { project };
    const query = JSON.stringify(["list_schedules", project]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listSchedules.page!.mcpLimit;
    const { items, next } = await ctx.read.schedules.page({ filter, after, limit: pageSize });
    return {
      items: items.map((schedule) => scheduleState(ctx, schedule)),
      ...(await ctx.total(() => ctx.read.schedules.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});
