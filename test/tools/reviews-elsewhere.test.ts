/** No other way than publish_workflow makes an unreviewed version live in a project with review. */
import { expect, it } from "vitest";
import { projectWriter } from "../../src/store/projects.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { moveWorkflow } from "../../tools/workflows/move-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import { eventually } from "../support/eventually.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";
import { Scope } from "../../schemas/actor.ts";

const say = { steps: [{ id: "say", type: "set", values: { x: 1 } }] };

async function admins(config: object = {}) {
  const instance = await testInstance({ clock: fakeClock(), config });
  const admin = async (name: string) =>
    callAs(
      instance,
      (await signedInUser(instance, { email: `${name}@example.com`, role: "admin" })).principal,
    );
  const setReview = (project: string) =>
    instance.store.transaction((trx) => projectWriter(trx).update(project, { review: true }));
  return { instance, ann: await admin("ann"), ben: await admin("ben"), setReview };
}

it("a workflow that its author moves into such a project arrives as a draft, and what another person published stays live", async () => {
  const { ann, ben, setReview } = await admins();
  await ann(createProject, { name: "Finance" });
  await setReview("finance");
  for (const [name, publisher, expected] of [
    ["Own", ann, null],
    ["Reviewed", ben, 1],
  ] as const) {
    const { id } = await ann(createWorkflow, { name, definition: say, project: "default" });
    await publisher(publishWorkflow, { workflow_id: id });
    const moved = await ann(moveWorkflow, { workflow_id: id, project: "finance" });
    expect({ name, published: moved.published_version }).toEqual({ name, published: expected });
    // The answer says what happened, and what to do next.
    expect(moved.unpublished?.version).toBe(expected === null ? 1 : undefined);
    const next = `"finance" requires review.*Publish version 1 \\(publish_workflow, POST /workflows/${id}/publish\\)`;
    expect(moved.unpublished?.detail ?? "").toMatch(new RegExp(expected === null ? next : "^$"));
    // Publishing it there is no way around it either.
    const asked = (await ann(publishWorkflow, { workflow_id: id })).review !== undefined;
    expect(asked).toBe(expected === null);
  }
});

it("a move ends the pending request", async () => {
  const { ann, ben, setReview } = await admins();
  await ann(createProject, { name: "Finance" });
  await setReview("default");
  const { id } = await ann(createWorkflow, { name: "Own", definition: say, project: "default" });
  const { review } = await ann(publishWorkflow, { workflow_id: id });
  await ben(moveWorkflow, { workflow_id: id, project: "finance" });
  expect((await ben(getReview, { review_id: review!.id })).status).toBe("outdated");
});

it("an author does not restore what nobody else has reviewed as published", async () => {
  const { ann, setReview } = await admins();
  const { id } = await ann(createWorkflow, { name: "Own", definition: say });
  await ann(publishWorkflow, { workflow_id: id });
  await ann(archiveWorkflow, { workflow_id: id });
  await setReview("default");
  expect(await ann(restoreWorkflow, { workflow_id: id })).toMatchObject({
    status: "draft",
    published_version: null,
    unpublished: { version: 1, detail: expect.stringContaining('"default" requires review') as unknown },
  });
});

it("those who may decide get a mail with the plan and a link, and who asked gets none", async () => {
  const { port, received } = await smtpPeer();
  const basic = {
    smtp_user: "millrace@example.com",
    smtp_password_var: "MILLRACE_STATE_DIR",
    smtp_server: "127.0.0.1",
    smtp_port: port,
  };
  const { instance, ann, setReview } = await admins({ authentication: { basic } });
  await signedInUser(instance, { email: "vic@example.com", role: "viewer" });
  await setReview("default");
  await ann(createWorkflow, { name: "Report", definition: say });
  const agent = callAs(instance, { ...keyPrincipal(Scope.options, "ann@example.com"), keyName: "agent" });
  const { review } = await agent(publishWorkflow, { workflow_id: "report", reason: "Net figures" });
  await eventually(() => Promise.resolve(received.length > 0 || undefined), "the mail");
  expect(received).toHaveLength(1);
  const [mail] = received;
  expect(mail).toContain("To: ben@example.com");
  expect(mail).toContain("Review needed: version 1 of report");
  expect(mail!.replaceAll("=\r\n", "")).toContain(`/ui/reviews/${review!.id}`);
  // Each mail counts for the person who asked, and for the share of their key.
  const counts = await instance.store.read.selectFrom("usage_counts").selectAll().execute();
  expect(counts.filter(({ kind }) => kind === "mails")).toMatchObject([
    { holder: "ann@example.com", used: 1 },
    { holder: "ann@example.com\nkey_test", used: 1 },
  ]);
});
