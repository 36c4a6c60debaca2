import { describe, expect, it } from "vitest";
import { testInstance } from "../support/instance.ts";
import { runHere } from "../support/process.ts";
import { callAs, keyPrincipal } from "../support/users.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { testSubscription } from "../../tools/subscriptions/test-subscription.ts";
import { rotateTrigger } from "../../tools/triggers/rotate-trigger.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";

const HOOK = {
  steps: [{ id: "a", type: "set", values: { x: 1 } }],
  triggers: [{ id: "hook", type: "webhook" }],
};

/** A state in which the key `ci` created, edited and archived workflows. */
async function changedByKey() {
  const instance = await testInstance();
  const { record } = await instance.key({ name: "ci" });
  const principal = { ...keyPrincipal(), keyId: record.id, keyName: "ci", lineage: record.lineage };
  const key = callAs(instance, principal, { surface: "mcp", name: "agent" });
  const other = callAs(instance, { ...keyPrincipal(), lineage: "key_other", keyName: "other" });
  for (const name of ["kept", "gone"]) await other(createWorkflow, { name, description: "Before" });
  await key(createWorkflow, { name: "made" });
  for (const description of ["One", "Two"]) await key(updateWorkflow, { workflow_id: "kept", description });
  await key(archiveWorkflow, { workflow_id: "gone" });
  const keys = (...args: string[]) =>
    runHere(["keys", ...args], { MILLRACE_STATE_DIR: instance.stateDir, NO_COLOR: "1" });
  const statusOf = async (id: string) => {
    const found = (await instance.services.read.workflows.find(id))!;
    return [found.status, found.version, found.description];
  };
  return { id: record.id, key, keys, statusOf };
}

/** The lines after the first one, which has the time of the request. */
const withoutTime = (text: string) => text.split("\n").slice(1);

describe("millrace keys changes and revert", () => {
  it("lists what a key changed, then reverts it once", async () => {
    const { id, keys, statusOf } = await changedByKey();
    const { out } = await keys("changes", "ci", "--since", "1h");
    expect(out).toContain("kept  edited versions 2–3\n  → version 4 gets the content of version 1\n");
    expect(out).toContain("gone  archived\n  → it is restored\n");
    expect(out).toContain("made  created\n  → it is archived, because the key created it\n");
    const dry = await keys("revert", id, "--since", "1h", "--dry-run");
    expect(withoutTime(dry.out)).toEqual(withoutTime(out));
    const refused = await keys("revert", id, "--since", "1h");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("Use --yes") as string });
    expect(await statusOf("kept")).toEqual(["draft", 3, "Two"]);
    const one = await keys("revert", id, "--since", "1h", "--yes", "--workflow", "gone");
    expect(one.out).toContain("1 workflow reverted.\n");
    const rest = await keys("revert", id, "--since", "1h", "--yes", "--json");
    expect(JSON.parse(rest.out)).toMatchObject({
      workflows: [
        { workflow_id: "kept", outcome: "reverted" },
        { workflow_id: "made", outcome: "reverted" },
      ],
      already_reverted: 1,
    });
    expect(await statusOf("kept")).toEqual(["draft", 4, "Before"]);
    expect(await statusOf("gone")).toEqual(["draft", 3, "Before"]);
    expect(await statusOf("made")).toEqual(["archived", 2, ""]);
    expect((await keys("revert", id, "--since", "1h", "--yes")).out).toContain("0 workflows reverted.\n");
    expect((await keys("changes", id, "--since", "1h")).out).toContain(
      "All that can be reverted is reverted.\n",
    );
    expect((await keys("changes", id, "--since", "1h", "--client", "nobody")).out).toContain(
      "No record says that it changed anything. Of states of workflows, only changes by runs that are still kept are on record.\n",
    );
  });

  it("lists what it did elsewhere, with what stays in force, and reverts what it can", async () => {
    const { id, key, keys } = await changedByKey();
    const alerts = { name: "Leak", url: "https://example.com/hook", events: ["run.failed"] };
    const { id: subscription } = await key(createSubscription, alerts);
    await key(testSubscription, { subscription_id: subscription });
    await key(updateWorkflow, { workflow_id: "made", definition: HOOK });
    await key(publishWorkflow, { workflow_id: "made" });
    await key(rotateTrigger, { workflow_id: "made", trigger: "hook" });
    const { out } = await keys("changes", "ci", "--since", "1h");
    expect(out).toContain(
      `${subscription} "Leak"  created a subscription\n  → it is deleted, because the key created it\n`,
    );
    expect(out).toContain("made/hook  replaced its URL\n  in force: The key has seen the URL");
    expect(out).toContain(
      `Not reverted:\n  sent test events: ${subscription}\n    The receivers have got them.`,
    );
    const only = ["--workflow", "made", "--subscription", subscription, "--rotate-triggers"];
    const done = await keys("revert", id, "--since", "1h", "--yes", ...only);
    expect(done.out).toContain("1 workflow, 1 subscription and 1 trigger reverted.\n");
    expect((await keys("revert", id, "--since", "1h", "--yes")).out).toContain("2 workflows reverted.\n");
    const left = (await keys("changes", id, "--since", "1h")).out;
    expect(left).toContain("made/hook  replaced its URL\n  nothing to revert\n");
    expect(left).toContain("sent test events");
  });

  it("says how a time is written", async () => {
    const { keys } = await changedByKey();
    const { code, err } = await keys("changes", "ci", "--since", "yesterday");
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("--since must be a time or how long ago, got yesterday.") as string,
    });
  });
});
