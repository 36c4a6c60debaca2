/** The text of a definition, which is kept with its comments. */
import { expect, it } from "vitest";
import { storedBytes, storedBytesErrors } from "../../src/store/stored-bytes.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { getWorkflowVersion } from "../../tools/workflows/get-workflow-version.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const TEXT = "# Says it.\nsteps:\n  - id: hello # first\n    type: set\n    values: { text: Hi }\n";
const DEFINITION = { steps: [{ id: "hello", type: "set", values: { text: "Hi" } }] };

async function open() {
  const instance = await testInstance();
  const call = callAs(instance, keyPrincipal());
  const workflow_id = "hello";
  const read = () => call(getWorkflow, { workflow_id, include: ["source"] });
  const update = (changed: object) => call(updateWorkflow, { workflow_id, ...changed });
  await call(createWorkflow, { name: "Hello", definition: TEXT });
  return { instance, call, workflow_id, read, update };
}

it("is returned as it was typed, only where it is asked for", async () => {
  const { call, workflow_id, read } = await open();
  expect(await read()).toMatchObject({ definition: DEFINITION, source: TEXT });
  expect(await call(getWorkflow, { workflow_id })).not.toHaveProperty("source");
  expect(await call(getWorkflowVersion, { workflow_id, version: 1 })).toMatchObject({ source: TEXT });
});

it("makes a version where only comments differ, and none where nothing does", async () => {
  const { read, update } = await open();
  expect(await update({ definition: TEXT })).toMatchObject({ version: 1 });
  expect(await update({ definition: DEFINITION })).toMatchObject({ version: 1 });
  const other = TEXT.replace("first", "the first");
  expect(await update({ definition: other })).toMatchObject({ version: 2 });
  expect(await read()).toMatchObject({ definition: DEFINITION, source: other });
});

it("stays with other changes, and has the changes of an object, a patch and fixes merged into it", async () => {
  const { call, workflow_id, read, update } = await open();
  await update({ name: "Hello again" });
  expect(await read()).toMatchObject({ version: 2, source: TEXT });
  await call(archiveWorkflow, { workflow_id });
  await call(restoreWorkflow, { workflow_id });
  expect(await read()).toMatchObject({ version: 4, source: TEXT });
  await update({ patch: [{ op: "update_step", id: "hello", set: { values: { text: "Hello" } } }] });
  expect(await read()).toMatchObject({ version: 5, source: TEXT.replace("Hi", "Hello") });
  await update({ definition: DEFINITION });
  expect(await read()).toMatchObject({ version: 6, source: TEXT });
  await update({ definition: TEXT.replace("values:", "when: 'true'\n    values:"), apply_fixes: true });
  const fixed = await read();
  expect(fixed).toMatchObject({ definition: { steps: [{ if: "true" }] } });
  expect((fixed as { source: string }).source).toMatch(/# Says it\.\n[\s\S]*# first\n[\s\S]*if:/);
  await update({ definition: null });
  expect(await read()).not.toHaveProperty("source");
});

it("is not kept for JSON", async () => {
  const { read, update } = await open();
  await update({ definition: JSON.stringify({ ...DEFINITION, output: 1 }) });
  const { source } = (await read()) as { source: string };
  expect(source).toBe(`${TEXT}output: 1\n`);
});

it("counts for its author, until its version is pruned", async () => {
  const { instance, update } = await open();
  const { read: db } = instance.store;
  const bytes = () => storedBytes(db, "key_test");
  const before = await bytes();
  await update({ definition: TEXT.replace("Hi", "Ho") });
  const added = (await bytes()) - before;
  expect(added).toBe(JSON.stringify(DEFINITION).length + TEXT.length);
  const rule = { workflowId: "hello", keep: 1, before: "9999" };
  const intent = { operation: "prune_versions", actor: OPERATOR_ACTOR, requestId: "req_1" };
  await instance.services.write(intent, (tx) => tx.workflows.pruneVersions(rule));
  expect(await bytes()).toBe(added);
  expect(await storedBytesErrors(db)).toEqual([]);
});
