import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { RunId } from "../../schemas/run.ts";
import { RunLogEntry } from "../../schemas/run-log.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { runLog } from "./run-log.ts";

const PAGE_SIZE = 100;

export const listRunLog = defineTool({
  name: "list_run_log",
  title: "List the log of a run",
  description:
    "Lists what happened in a run, oldest first: its start and end, steps, attempts, waits and approvals. Items of a " +
    "fan-out are counted with the end of their step.",
  route: "GET /runs/:run_id/log",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["run_not_found", "invalid_cursor"],
  // Each page is made of the whole log.
  page: { item: RunLogEntry, mcpLimit: PAGE_SIZE, alwaysPaged: () => true },
  input: z.strictObject({ run_id: RunId, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(RunLogEntry),
  async run({ run_id, limit = PAGE_SIZE, cursor }, ctx) {
    const run = await findRun(ctx.read.runs, run_id);
    const query = JSON.stringify(["list_run_log", run_id]);
    const from = cursor === undefined ? 0 : Number(ctx.cursors.decode(query, cursor)[0]);
    const entries = await runLog(ctx, run);
    const to = from + limit;
    return {
      items: entries.slice(from, to),
      ...(await ctx.total(() => Promise.resolve(entries.length))),
      next_cursor: to < entries.length ? ctx.cursors.encode(query, [String(to), ""]) : null,
    };
  },
});
