/** A key with limited databases changes nothing that published workflows run beyond these. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, it } from "vitest";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const HARMLESS = { steps: [{ id: "a", type: "set", values: { x: 1 } }] };
const LEDGER = { steps: [{ id: "a", type: "sql", database: "ledger", query: "SELECT 1 AS n" }] };
const calling = (workflow: string) => ({ steps: [{ id: "call", type: "workflow", workflow }] });

/** A published workflow that runs the draft `draft` through another one, and callers with and without a limit. */
async function open() {
  const databases = ["shop", "ledger"].map((name) => {
    const dataset = join(temporaryDirectory(), `${name}.db`);
    new DatabaseSync(dataset).close();
    return { name, type: "sqlite", dataset };
  });
  const instance = await testInstance({ config: { databases } });
  const principal = keyPrincipal();
  const anyone = callAs(instance, principal);
  const limited = callAs(instance, {
    ...principal,
    access: { ...principal.access, keyLimits: { databases: ["shop"] } },
  });
  await limited(createWorkflow, { name: "Draft", definition: HARMLESS });
  await limited(createWorkflow, { name: "Middle", definition: calling("draft") });
  await limited(createWorkflow, { name: "Live", definition: calling("middle") });
  await limited(publishWorkflow, { workflow_id: "live" });
  return { anyone, limited };
}

const refused = { code: "not_permitted" };

it("saves no draft with issues that a published workflow runs, and any other one", async () => {
  const { anyone, limited } = await open();
  await expect(limited(updateWorkflow, { workflow_id: "draft", definition: LEDGER })).rejects.toMatchObject(
    refused,
  );
  expect(await limited(updateWorkflow, { workflow_id: "draft", description: "New" })).toMatchObject({
    version: 2,
  });
  expect(await limited(createWorkflow, { name: "Other", definition: LEDGER })).toMatchObject({
    issues: [{ code: "unknown_database" }],
  });
  expect(await anyone(updateWorkflow, { workflow_id: "draft", definition: LEDGER })).toMatchObject({
    version: 3,
    issues: [],
  });
});

it("unpublishes nothing whose newest version a published workflow would run then", async () => {
  const { anyone, limited } = await open();
  await limited(publishWorkflow, { workflow_id: "draft" });
  await limited(updateWorkflow, { workflow_id: "draft", definition: LEDGER });
  await expect(limited(unpublishWorkflow, { workflow_id: "draft" })).rejects.toMatchObject(refused);
  await anyone(updateWorkflow, { workflow_id: "draft", definition: HARMLESS });
  await anyone(publishWorkflow, { workflow_id: "draft" });
  expect(await limited(unpublishWorkflow, { workflow_id: "draft" })).toMatchObject({ status: "draft" });
});

it("restores nothing that uses more: its scheduled runs would be those of the key", async () => {
  const { anyone, limited } = await open();
  for (const [name, definition] of [
    ["Nightly", { ...LEDGER, schedule: { cron: "0 3 * * *" } }],
    ["Weekly", { ...HARMLESS, schedule: { cron: "0 3 * * 1" } }],
  ] as const) {
    const { id } = await anyone(createWorkflow, { name, definition });
    await anyone(publishWorkflow, { workflow_id: id });
    await anyone(archiveWorkflow, { workflow_id: id });
  }
  await expect(limited(restoreWorkflow, { workflow_id: "nightly" })).rejects.toMatchObject(refused);
  expect(await limited(restoreWorkflow, { workflow_id: "weekly" })).toMatchObject({ status: "published" });
  expect(await anyone(restoreWorkflow, { workflow_id: "nightly" })).toMatchObject({ status: "published" });
});
