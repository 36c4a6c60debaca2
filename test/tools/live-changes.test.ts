import { describe, expect, it } from "vitest";
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../../src/core/errors.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import type { Principal, Readers, Writers } from "../../src/core/ports.ts";
import { scopedReaders } from "../../src/core/scoped-readers.ts";
import { UNLIMITED_READS } from "../../src/core/unlimited-reads.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { runRefusal } from "../../tools/triggers/may-run.ts";
import {
  assertMayChangeDraft,
  assertMayPublish,
  assertWithinKeyLimits,
  keyMayStart,
} from "../../tools/workflows/live-changes.ts";
import { keyWith, onlyRole, personWith, rolesIn, thrownBy } from "../support/callers.ts";

const BEYOND: Issue = {
  path: "",
  code: "beyond_key_limits",
  message: "uses the model big",
  fix: "Use another key.",
};
/** The versions that are beyond the limits of a key, and those that the engine was asked about. */
function contextOf(principal: Principal, beyond: readonly string[] = []) {
  const asked: string[] = [];
  const engine = {
    async beyondKeyLimits({ workflowId, version }: { workflowId: string; version: number }) {
      asked.push(`${workflowId}@${version}`);
      return beyond.includes(`${workflowId}@${version}`) ? [BEYOND] : [];
    },
  };
  return { ctx: { actor: { principal }, engine } as unknown as ToolContext, asked };
}
const editor = personWith(rolesIn("viewer", { finance: "editor" }));
const keyLimitedTo = (limits: KeyLimits) => keyWith(onlyRole("editor"), ["read", "run", "write"], { limits });

describe("assertMayPublish", () => {
  const words = { change: "This", instead: "Ask Ben." };

  it("accepts a caller with the scope publish in the project of the workflow", () => {
    const { ctx } = contextOf(editor);
    expect(assertMayPublish(ctx, { project: "finance" }, words)).toBeUndefined();
  });

  it.each([{ project: "default" }, {}])("refuses a caller without it for a workflow with %j", (workflow) => {
    const { ctx } = contextOf(editor);
    expect(thrownBy(() => assertMayPublish(ctx, workflow, words))).toMatchObject({
      code: "missing_scope",
      message: "This would take effect at once, which needs the scope publish. Nothing was changed. Ask Ben.",
      details: {
        errors: [
          {
            path: "",
            code: "missing_scope",
            message: "needs a key with the scope publish",
            allowed: ["publish"],
          },
        ],
      },
    });
  });
});

interface Caller {
  published?: boolean;
  project?: string;
}

/** Workflows that run others: `calls` has the callers of each workflow. */
function workflowsWith(
  calls: Readonly<Record<string, readonly string[]>>,
  callers: Readonly<Record<string, Caller>>,
) {
  const isPublished = (id: string) => callers[id]?.published === true;
  return {
    callers: async (id: string, options: { published: boolean }) =>
      (calls[id] ?? []).filter((caller) => !options.published || isPublished(caller)),
    find: async (id: string) =>
      id in callers ? { id, published_version: isPublished(id) ? 1 : null } : undefined,
    projectOf: async (id: string) => (id in callers ? (callers[id]!.project ?? "default") : undefined),
  };
}

/** Finds workflows of which only "between" is published. */
const publishedBetween = async (id: string) => ({ id, published_version: id === "between" ? 3 : null });

describe("assertMayChangeDraft", () => {
  const writer = keyWith(rolesIn("editor"), ["read", "write"]);

  /** The message of the refusal; undefined where the change is accepted. */
  async function refusalOf(
    principal: Principal,
    calls: Readonly<Record<string, readonly string[]>>,
    callers: Readonly<Record<string, Caller>>,
    draft: { id: string; project?: string } = { id: "draft" },
  ): Promise<string | undefined> {
    const none = Object.fromEntries(Object.keys(UNLIMITED_READS).map((port) => [port, {}]));
    const read = { ...none, workflows: workflowsWith(calls, callers) } as unknown as Readers;
    const scoped = scopedReaders(read, {
      principal,
      operation: "update_workflow",
      scope: "write",
      mask: undefined,
    });
    try {
      await assertMayChangeDraft(contextOf(principal).ctx, scoped, draft);
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.message;
    }
  }
  const live = { published: true };

  it("refuses a key without the scope publish where a published workflow runs the draft", async () => {
    const message = await refusalOf(writer, { draft: ["live"] }, { live });
    expect(message).toContain(
      'The published workflow "live" runs the draft "draft", so this change would take effect',
    );
    expect(message).toContain("Make the change in a new workflow, and ask a person to publish it.");
  });

  it("refuses it where the published workflow runs it through other drafts", async () => {
    const calls = { draft: ["between"], between: ["draft", "live"] };
    expect(await refusalOf(writer, calls, { between: {}, live })).toContain(
      'The published workflow "live" runs',
    );
  });

  it("does not name a workflow that the caller can't see", async () => {
    const message = await refusalOf(writer, { draft: ["live"] }, { live: { ...live, project: "finance" } });
    expect(message).toContain('A published workflow runs the draft "draft"');
    expect(message).not.toContain("live");
  });

  it.each<[string, Principal, Record<string, string[]>, Record<string, Caller>]>([
    ["with the scope publish", personWith(rolesIn("editor")), { draft: ["live"] }, { live }],
    ["where nothing runs the draft", writer, {}, {}],
    ["where only drafts run it", writer, { draft: ["between"] }, { between: {} }],
    [
      "where drafts run each other",
      writer,
      { draft: ["between"], between: ["draft"] },
      { between: {}, draft: {} },
    ],
    ["where the caller does not exist any more", writer, { draft: ["gone"], gone: ["live"] }, { live }],
  ])("accepts the change %s", async (_what, principal, calls, callers) => {
    expect(await refusalOf(principal, calls, callers)).toBeUndefined();
  });

  it("needs the scope publish in the project of the draft", async () => {
    const inFinance = { id: "draft", project: "finance" };
    const principal = personWith(rolesIn("editor", { finance: "viewer" }));
    expect(await refusalOf(principal, { draft: ["live"] }, { live }, inFinance)).toContain("scope publish");
  });

  it("does not follow the newest version of a published workflow, whose callers run the published one", async () => {
    const calls = { draft: ["between"], between: ["live"] };
    const workflows = { ...workflowsWith(calls, { between: {}, live }) };
    const read = { workflows: { ...workflows, find: publishedBetween } } as unknown as Readers;
    expect(await assertMayChangeDraft(contextOf(writer).ctx, read, { id: "draft" })).toBeUndefined();
  });

  it("refuses the change where more than 1,000 drafts run it, and names none", async () => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `d${index}`);
    const many = Object.fromEntries(ids.map((id) => [id, {}]));
    expect(await refusalOf(writer, { draft: ids }, many)).toContain("A published workflow runs the draft");
    const few = Object.fromEntries(ids.slice(0, 999).map((id) => [id, {}]));
    expect(await refusalOf(writer, { draft: ids.slice(0, 999) }, few)).toBeUndefined();
  });
});

const attempt = (limits: KeyLimits | null, calls: Readonly<Record<string, readonly string[]>>) => {
  const principal = limits === null ? personWith(onlyRole("editor")) : keyLimitedTo(limits);
  const tx = { workflows: workflowsWith(calls, { live: { published: true } }) } as unknown as Writers;
  return assertWithinKeyLimits(contextOf(principal).ctx, tx, { id: "draft" }, "it uses the model big");
};

describe("assertWithinKeyLimits", () => {
  const called = { draft: ["live"] };

  it.each<[KeyLimits]>([[{ databases: [] }], [{ models: [] }]])(
    "refuses a key with the limits %j where a published workflow runs the draft",
    async (limits) => {
      await expect(attempt(limits, called)).rejects.toMatchObject({
        code: "not_permitted",
        message: expect.stringContaining(
          'A published workflow runs the draft "draft", so this would take effect at once, and it uses the model big.',
        ),
      });
    },
  );

  it.each<[string, KeyLimits | null, Record<string, string[]>]>([
    ["a person", null, called],
    ["a key with other limits", { tools: [] }, called],
    ["a key with limited models where nothing runs the draft", { models: [] }, {}],
  ])("accepts %s", async (_who, limits, calls) => {
    expect(await attempt(limits, calls)).toBeUndefined();
  });
});

const version = (number: number) => ({ workflowId: "w", version: number });

const found = (number: number) => async () => version(number);

describe("keyMayStart", () => {
  const REFUSED = {
    code: "not_permitted",
    message:
      'Version 2 of "w" uses the model big. So this key can\'t publish it, and nothing was changed. Use another key.',
    details: { errors: [BEYOND] },
  };
  const key = keyLimitedTo({ models: [] });

  it("lets a caller without limits of a key, and asks nothing", async () => {
    const { ctx, asked } = contextOf(personWith(onlyRole("editor")), ["w@2"]);
    const assertMayStart = await keyMayStart(ctx, found(2), "publish it");
    expect(await assertMayStart(version(2))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("refuses the version that is beyond the limits only when the check is made", async () => {
    const { ctx, asked } = contextOf(key, ["w@2"]);
    const assertMayStart = await keyMayStart(ctx, found(2), "publish it");
    expect(asked).toEqual(["w@2"]);
    await expect(assertMayStart(version(2))).rejects.toMatchObject(REFUSED);
    expect(asked).toEqual(["w@2"]);
  });

  it("accepts a version within the limits", async () => {
    const { ctx } = contextOf(key, ["w@2"]);
    expect(await (await keyMayStart(ctx, found(1), "publish it"))(version(1))).toBeUndefined();
  });

  it("checks the version again that has changed in the meantime", async () => {
    const { ctx, asked } = contextOf(key, ["w@2"]);
    await expect((await keyMayStart(ctx, found(1), "publish it"))(version(2))).rejects.toMatchObject(REFUSED);
    expect(await (await keyMayStart(ctx, found(2), "publish it"))(version(1))).toBeUndefined();
    expect(asked).toEqual(["w@1", "w@2", "w@2", "w@1"]);
  });

  it("checks the version in the transaction where it found none before", async () => {
    const { ctx } = contextOf(key, ["w@2"]);
    for (const find of [
      async () => undefined,
      () => Promise.reject(new AppError("workflow_not_found", "There is none")),
    ])
      await expect((await keyMayStart(ctx, find, "publish it"))(version(2))).rejects.toMatchObject(REFUSED);
  });

  it("passes on an unexpected error", async () => {
    const broken = keyMayStart(
      contextOf(key).ctx,
      () => Promise.reject(new Error("disk full")),
      "publish it",
    );
    await expect(broken).rejects.toThrow("disk full");
  });
});

describe("runRefusal of a trigger", () => {
  const trigger = { workflowId: "w", version: 2, project: "finance" };

  it("is missing_scope without the scope run in the project", async () => {
    const reader = personWith(rolesIn("editor", { finance: "viewer" }));
    expect(await runRefusal(contextOf(reader).ctx, trigger)).toMatchObject({
      code: "missing_scope",
      message: expect.stringContaining(
        'What starts runs of a workflow needs the scope "run" in the project "finance"',
      ),
    });
  });

  it("is workflow_not_runnable beyond the limits of the key, and undefined within them", async () => {
    const key = keyWith(null, ["run"], { projects: ["finance"], limits: { models: [] } });
    expect(await runRefusal(contextOf(key, ["w@2"]).ctx, trigger)).toMatchObject({
      code: "workflow_not_runnable",
      message: 'Version 2 of "w" uses the model big. Nothing was started. Use another key.',
      details: { errors: [BEYOND] },
    });
    expect(await runRefusal(contextOf(key).ctx, trigger)).toBeUndefined();
  });
});
