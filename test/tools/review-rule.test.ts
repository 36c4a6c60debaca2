import { describe, expect, it } from "vitest";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { Authorship } from "../../src/core/authorship.ts";
import type { Principal, Readers } from "../../src/core/ports.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import { decidedError, findDecidable } from "../../tools/reviews/find-decidable.ts";
import { isReviewed, needsReview, needsReviewAgain } from "../../tools/reviews/review-rule.ts";
import { ANN, keyWith, onlyRole, personWith, principalWith, rolesIn } from "../support/callers.ts";

/** Ben wrote version 3, and Ann version 2, which nobody else has reviewed. */
const AUTHORSHIP: Authorship = {
  authors: [
    { owner: ANN, keyName: "browser", subject: ANN, version: 2 },
    { owner: "ben@example.com", keyName: "browser", subject: "ben@example.com", version: 3 },
    { owner: "operator", keyName: "command-line", subject: "command-line", version: 1 },
  ],
  reviews: [],
};
const workflow = (fields: Partial<WorkflowWithDefinition> = {}) =>
  ({ id: "w", published_version: null, ...fields }) as WorkflowWithDefinition;

const review: ReviewRecord = {
  id: "rev_1",
  project: "default",
  workflowId: "w",
  version: 3,
  status: "pending",
  requestedBy: "ben@example.com",
  keyName: "laptop",
  subject: "ben@example.com",
  decidedAt: null,
  decidedBy: null,
} as unknown as ReviewRecord;

/** The readers of an installation where the projects in `reviewed` need reviews. */
function readers({
  reviewed = ["default"],
  found = review,
  published = null,
}: { reviewed?: string[]; found?: ReviewRecord | undefined; published?: number | null } = {}) {
  return {
    projects: {
      find: async (id: string) => (id === "gone" ? undefined : { id, review: reviewed.includes(id) }),
    },
    reviews: { find: async (id: string) => (id === found.id ? found : undefined) },
    workflows: {
      find: async () => workflow({ published_version: published }),
      authorship: async (_id: string, version: number) => ({
        ...AUTHORSHIP,
        authors: AUTHORSHIP.authors.filter((author) => author.version <= version),
      }),
    },
  } as unknown as Readers;
}
const ann = personWith(onlyRole("editor"));
const eva: Principal = { ...ann, owner: "eva@example.com", lineage: "usr_eva" };
const operator = principalWith(ann.access, { kind: "operator", owner: "operator", lineage: "command-line" });

describe("isReviewed", () => {
  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ["default", true],
    ["finance", false],
    ["gone", false],
  ])("of a workflow in the project %s is %s", async (project, expected) => {
    expect(await isReviewed(readers(), { project })).toBe(expected);
  });
});

describe("needsReview", () => {
  it.each<[string, Principal, Partial<WorkflowWithDefinition>, number, boolean]>([
    ["a key", keyWith(onlyRole("admin"), ["publish"]), {}, 1, true],
    ["a person who wrote a part of it", ann, {}, 3, true],
    ["a person who wrote nothing of it", eva, {}, 3, false],
    ["a person whose part is published", ann, { published_version: 2 }, 3, false],
    ["no operator at the command line", operator, {}, 3, false],
    [
      "no key in a project without review",
      keyWith(onlyRole("admin"), ["publish"]),
      { project: "finance" },
      3,
      false,
    ],
    ["no person in a project without review", ann, { project: "finance" }, 3, false],
  ])("is right for %s", async (_who, principal, fields, version, expected) => {
    expect(await needsReview(readers(), principal, workflow(fields), version)).toBe(expected);
  });

  it("needsReviewAgain does not count what is published", async () => {
    expect(await needsReviewAgain(readers(), ann, workflow({ published_version: 2 }), 3)).toBe(true);
    const inFinance = workflow({ published_version: 2, project: "finance" });
    expect(await needsReviewAgain(readers(), ann, inFinance, 3)).toBe(false);
    expect(await needsReviewAgain(readers(), eva, workflow({ published_version: 2 }), 3)).toBe(false);
  });
});

const decide = (principal: Principal, setting: Parameters<typeof readers>[0] = {}) =>
  findDecidable(readers(setting), principal, "rev_1");

describe("findDecidable of a change request", () => {
  it("finds it for another person who may publish", async () => {
    expect(await decide(eva)).toEqual({ review, workflow: workflow() });
    expect(await decide(ann, { published: 2 })).toMatchObject({ review });
  });

  it.each<[string, Principal, ReviewRecord, string]>([
    [
      "a key",
      keyWith(onlyRole("admin"), ["publish"]),
      review,
      "Only a person decides it, in the web interface.",
    ],
    [
      "a person who can't publish",
      personWith(onlyRole("viewer")),
      review,
      "Your role does not let you publish.",
    ],
    [
      "a person who can't publish in the project",
      personWith(rolesIn("editor", { finance: "viewer" })),
      { ...review, project: "finance" },
      'Your role in the project "finance" does not let you publish.',
    ],
    [
      "the person who asked for it",
      { ...eva, keyName: "browser" },
      { ...review, requestedBy: eva.owner, subject: eva.owner, keyName: "browser" },
      "You asked for it.",
    ],
    [
      "the person whose key asked for it",
      { ...eva, keyName: "browser" },
      { ...review, requestedBy: eva.owner, subject: eva.owner },
      'Your key "laptop" asked for it.',
    ],
    [
      "a person who wrote a part of it",
      ann,
      review,
      "You wrote version 2, which nobody else has reviewed since.",
    ],
  ])("refuses %s", async (_who, principal, found, reason) => {
    await expect(decide(principal, { found })).rejects.toMatchObject({
      code: "review_not_yours",
      message: `${reason} Another person with the scope "publish" must decide rev_1, who has no part in it.`,
    });
  });

  it("refuses one that is decided, also for a person who could not have decided it", async () => {
    const found = { ...review, status: "approved", decidedBy: ANN, decidedAt: "2026-11-21" } as ReviewRecord;
    await expect(decide(ann, { found })).rejects.toMatchObject({ code: "review_decided" });
  });

  it("refuses one that does not exist", async () => {
    await expect(decide(eva, { found: { ...review, id: "rev_2" } })).rejects.toMatchObject({
      code: "review_not_found",
    });
  });
});

const decided = (fields: Partial<ReviewRecord>) =>
  decidedError({ ...review, decidedAt: "2026-11-21", decidedBy: ANN, ...fields }).message;

describe("decidedError", () => {
  it.each<[Partial<ReviewRecord>, string]>([
    [{ status: "approved" }, `rev_1 was approved by ${ANN} at 2026-11-21.`],
    [{ status: "withdrawn" }, `rev_1 was withdrawn by ${ANN} at 2026-11-21.`],
    [{ status: "replaced", decidedBy: null }, "rev_1 was replaced by a newer one at 2026-11-21."],
    [{ status: "outdated", decidedBy: null }, 'rev_1 is outdated, because "w" was unpublished'],
  ])("of %j says how it ended", (fields, expected) => {
    expect(decided(fields)).toContain(expected);
    expect(decided(fields)).toContain(
      "Nothing was changed. GET /reviews?workflow_id=w shows the pending one",
    );
  });
});
