/** A key with limited databases makes no runs happen later that it could not start itself, by any operation. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startBackfill } from "../../tools/backfills/start-backfill.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { pauseSchedule } from "../../tools/schedules/pause-schedule.ts";
import { resumeSchedule } from "../../tools/schedules/resume-schedule.ts";
import { rotateTrigger } from "../../tools/triggers/rotate-trigger.ts";
import { allowExposure } from "../../tools/workflows/allow-exposure.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getExposure } from "../../tools/workflows/get-exposure.ts";
import { offerWorkflow } from "../../tools/workflows/offer-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { withdrawExposure } from "../../tools/workflows/withdraw-exposure.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { DAY } from "../../src/core/clock.ts";
import { getSchedule } from "../../tools/schedules/get-schedule.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { addProject } from "../support/projects.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const calling = (workflow: string) => [{ id: "call", type: "workflow", workflow }];
const SAY = { id: "say", type: "set", values: { n: 1 } };
const ledgerQuery = { type: "sql", database: "ledger", query: "SELECT 1 AS n" };
const STARTS = {
  schedule: { cron: "0 3 * * *" },
  triggers: [{ id: "hook", type: "webhook" }],
  expose_as_tool: true,
};

/** Published workflows of somebody without limits, which use the database `ledger`, and callers with and without a limit. */
async function open() {
  const databases = ["shop", "ledger"].map((name) => {
    const dataset = join(temporaryDirectory(), `${name}.db`);
    new DatabaseSync(dataset).close();
    return { name, type: "sqlite", dataset };
  });
  const instance = await testInstance({ config: { databases } });
  await addProject(instance, "finance");
  const principal = keyPrincipal();
  const anyone = callAs(instance, principal);
  const limited = callAs(instance, {
    ...principal,
    access: { ...principal.access, keyLimits: { databases: ["shop"] } },
  });
  const publish = async (name: string, steps: object[], more: object = STARTS): Promise<string> => {
    const created = await anyone(createWorkflow, {
      name,
      description: "Reads.",
      definition: { steps, ...more },
    });
    expect(created).toMatchObject({ issues: [] });
    const { id } = created as { id: string };
    await anyone(publishWorkflow, { workflow_id: id });
    return id;
  };
  await publish("Called", [{ id: "a", ...ledgerQuery }], {});
  return {
    anyone,
    limited,
    workflows: {
      "queries it": await publish("Direct", [{ id: "a", ...ledgerQuery }]),
      "calls what queries it": await publish("Calling", calling("called")),
      "undoes with it": await publish("Undoing", [
        { id: "a", type: "http", method: "POST", url: "https://api.example.com/x", undo: ledgerQuery },
      ]),
    },
    harmless: await publish("Harmless", [{ id: "a", type: "set", values: { n: 1 } }]),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

const RANGE = { from: "2026-06-01T00:00:00Z", to: "2026-06-03T00:00:00Z" };

/** The operations, with what they need before, and what the key is refused with. */
const OPERATIONS: Record<
  string,
  {
    tool: AnyTool;
    input?: object;
    inputOf?: (opened: Opened, id: string) => Promise<object>;
    before?: (opened: Opened, id: string) => Promise<unknown>;
    code?: string;
  }
> = {
  run_workflow: { tool: runWorkflow, code: "workflow_not_runnable" },
  resume_schedule: {
    tool: resumeSchedule,
    before: ({ anyone }, id) => anyone(pauseSchedule, { workflow_id: id }),
  },
  start_backfill: { tool: startBackfill, input: RANGE, code: "workflow_not_runnable" },
  rotate_trigger: { tool: rotateTrigger, input: { trigger: "hook" } },
  allow_exposure: {
    tool: allowExposure,
    before: ({ anyone }, id) => anyone(withdrawExposure, { workflow_id: id }),
    inputOf: async ({ anyone }, id) => {
      const { digest } = (await anyone(getExposure, { workflow_id: id })) as { digest: string };
      return { digest };
    },
  },
  "publish_workflow of what is published": {
    tool: publishWorkflow,
    before: ({ anyone }, id) => anyone(withdrawExposure, { workflow_id: id }),
  },
  offer_workflow: { tool: offerWorkflow, input: { projects: ["finance"] } },
  restore_workflow: {
    tool: restoreWorkflow,
    before: ({ anyone }, id) => anyone(archiveWorkflow, { workflow_id: id }),
  },
};

it.each(Object.entries(OPERATIONS))(
  "%s is refused to a key for what uses other databases, and allowed for anything else",
  async (_, { tool, input, inputOf, before, code = "not_permitted" }) => {
    const opened = await open();
    const request = async (id: string) => ({
      workflow_id: id,
      ...input,
      ...(await inputOf?.(opened, id)),
    });
    const ids = Object.entries(opened.workflows);
    for (const [, id] of [...ids, ["", opened.harmless] as const]) await before?.(opened, id);
    const answers: unknown[] = [];
    for (const [how, id] of ids)
      answers.push([how, await opened.limited(tool, await request(id)).catch((error: unknown) => error)]);
    const beyond = [expect.objectContaining({ code: "beyond_key_limits" }) as unknown];
    expect(answers).toMatchObject(ids.map(([how]) => [how, { code, details: { errors: beyond } }]));
    for (const [, id] of ids) expect(await opened.anyone(tool, await request(id))).toBeTypeOf("object");
    expect(await opened.limited(tool, await request(opened.harmless))).toBeTypeOf("object");
  },
);

describe("runs that start by themselves", () => {
  it("stay in the limits of the key that published their workflow, whatever the workflows that it calls use by then", async () => {
    const clock = fakeClock();
    const databases = ["shop", "ledger"].map((name) => {
      const dataset = join(temporaryDirectory(), `${name}.db`);
      new DatabaseSync(dataset).close();
      return { name, type: "sqlite", dataset };
    });
    const config = { databases };
    const instance = await testInstance({ clock, config });
    const executor = await instance.executor({ config });
    const { record } = await instance.key({ name: "agent", limits: { databases: ["shop"] } });
    const { url } = await instance.rest({ config });
    const principal = keyPrincipal();
    const anyone = callAs(instance, principal);
    const limited = callAs(instance, {
      ...principal,
      keyName: "agent",
      lineage: record.lineage,
      access: { ...principal.access, keyLimits: record.limits },
    });
    await anyone(createWorkflow, { name: "Called", definition: { steps: [SAY] } });
    await anyone(publishWorkflow, { workflow_id: "called" });
    for (const [name, by] of [
      ["Limited", limited],
      ["Free", anyone],
    ] as const) {
      await by(createWorkflow, { name, definition: { ...STARTS, steps: calling("called") } });
      expect(await by(publishWorkflow, { workflow_id: name.toLowerCase() })).toMatchObject({
        status: "published",
      });
    }
    await anyone(updateWorkflow, {
      workflow_id: "called",
      definition: { steps: [{ id: "a", ...ledgerQuery }] },
    });
    await anyone(publishWorkflow, { workflow_id: "called" });
    clock.advance(DAY);
    await executor.startDueRuns();
    const why =
      'calls the workflow called, which uses a database that the key "agent" that published it may not use';
    const reason = expect.stringContaining(why) as string;
    expect(await anyone(getSchedule, { workflow_id: "limited" })).toMatchObject({
      skipped: { reason: "failed", message: reason },
    });
    expect(await anyone(getSchedule, { workflow_id: "free" })).toMatchObject({ skipped: null });
    const read = instance.read;
    for (const [id, expected] of [
      ["limited", { code: "workflow_not_runnable", reason }],
      ["free", { status: "started" }],
    ] as const) {
      const [trigger] = await read.triggers.ofWorkflow(id);
      const path = new URL(await instance.services.engine.triggers.url(trigger!)).pathname;
      const { body } = await apiClient(url)("POST", path, {});
      const { delivery_id: delivery } = body as { delivery_id: string };
      await executor.startReceived();
      expect(await read.triggerDeliveries.find(delivery)).toMatchObject(expected);
    }
  });
});
