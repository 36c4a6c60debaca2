/** Workflows: saved, published, reviewed, archived, restored, offered. */
import type { Company, Review, Workflow } from "./company.ts";
import { callOf, contentOf, definitionOf, type Kind, KINDS } from "./definitions.ts";
import { may, needsReview, ofProject, ofWorkflow, rules } from "./model.ts";
import type { Makers, Pick } from "./request.ts";
import { callersOf, goLive, isLive, kindOf, listed, live, publish } from "./things.ts";

/** Maximum number of workflows: with fewer, requests meet what others have done. */
const MAX_WORKFLOWS = 12;
/** Kinds that are created more often: what most rules are about. */
const OFTEN: readonly Kind[] = [
  "asks",
  "asks",
  "assigned",
  "assigned",
  "database",
  "hook",
  "hook that asks",
  "signed hook that asks",
  "signed hook that asks",
];

const newWorkflow = (id: string, project: string, kind: Kind, by: string): Workflow => ({
  id,
  project,
  isArchived: false,
  published: null,
  versions: [{ by, kind, content: contentOf(kind) }],
  reviews: [],
  calls: null,
  offeredTo: [],
  isPaused: false,
  startsFor: null,
  url: null,
});

export const WORKFLOW_OPERATIONS: Makers = [
  [
    6,
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const kind = pick.one([...KINDS, ...OFTEN])!;
      if (company.workflows.length > MAX_WORKFLOWS) return undefined;
      const name = `W ${company.number} ${company.workflows.length}`;
      const definition = definitionOf(kind, pick.number(1_000_000), company.assignees);
      return {
        operation: "create_workflow",
        input: { project, name, definition },
        expected: (actor) => may(company, actor, "create_workflow", ofProject(project)),
        after: ({ subject }, { id }) => void company.workflows.push(newWorkflow(id, project, kind, subject)),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const callee = pick.one(live(company).filter((one) => isLive(one) && one.offeredTo.length > 0));
      if (callee === undefined) return undefined;
      const project = callee.offeredTo[0]!;
      const name = `C ${company.number} ${company.workflows.length}`;
      const definition = callOf(callee.id, pick.number(1_000_000));
      return {
        operation: "create_workflow",
        input: { project, name, definition },
        expected: (actor) => may(company, actor, "create_workflow", ofProject(project)),
        after: ({ subject }, { id }) =>
          void company.workflows.push({ ...newWorkflow(id, project, "plain", subject), calls: callee }),
      };
    },
  ],
  [
    8,
    (company, pick) => {
      const workflow = pick.one(live(company).filter(({ calls }) => calls === null));
      if (workflow === undefined) return undefined;
      const before = workflow.versions.at(-1)!.kind;
      const isBound = workflow.offeredTo.length > 0 || pick.chance(0.8);
      const kind = isBound ? before : pick.one(KINDS)!;
      const definition = definitionOf(kind, pick.number(1_000_000), company.assignees);
      return {
        operation: "update_workflow",
        input: { workflow_id: workflow.id, definition },
        expected: (actor) => may(company, actor, "update_workflow", ofWorkflow(workflow)),
        after: ({ subject }) => void workflow.versions.push({ by: subject, kind, content: contentOf(kind) }),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      return {
        operation: "update_workflow",
        input: { workflow_id: workflow.id, description: `Text ${pick.number(1_000_000)}` },
        expected: (actor) => rules.rename(company, actor, workflow),
        after: ({ subject }) => void workflow.versions.push({ ...workflow.versions.at(-1)!, by: subject }),
      };
    },
  ],
  [
    8,
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      const { versions } = workflow;
      const version = pick.chance(0.7) ? versions.length : 1 + pick.number(versions.length);
      return {
        operation: "publish_workflow",
        input: { workflow_id: workflow.id, version },
        expected: (actor) => rules.publish(company, actor, workflow, version),
        aspect: (actor) => `${needsReview(company, actor, workflow, version)}`,
        check(actor, { review }) {
          const wanted = workflow.published !== version && needsReview(company, actor, workflow, version);
          return (review !== undefined) === wanted ? undefined : `review expected: ${wanted}`;
        },
        async after(actor, { review }) {
          if (review !== undefined)
            return void company.reviews.push({ id: review.id, workflow, version, by: actor.subject });
          await publish(company, { workflow, version, by: actor, startsFor: actor.subject });
        },
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => callersOf(company, one).length === 0));
      if (workflow === undefined) return undefined;
      return {
        operation: "unpublish_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => may(company, actor, "unpublish_workflow", ofWorkflow(workflow)),
        after: () => void (workflow.published = null),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => callersOf(company, one).length === 0));
      if (workflow === undefined) return undefined;
      return {
        operation: "archive_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => rules.archive(company, actor, workflow),
        after() {
          workflow.isArchived = true;
          workflow.versions.push({ ...workflow.versions.at(-1)!, by: null });
        },
      };
    },
  ],
  [
    4,
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(({ isArchived }) => isArchived));
      if (workflow === undefined) return undefined;
      return {
        operation: "restore_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => rules.restore(company, actor, workflow),
        async after(actor) {
          const { subject } = actor;
          const { published } = workflow;
          const again = { ...workflow, published: null };
          // What nobody else has reviewed returns as a draft.
          if (published !== null && needsReview(company, actor, again, published)) workflow.published = null;
          workflow.isArchived = false;
          workflow.versions.push({ ...workflow.versions.at(-1)!, by: null });
          if (workflow.published !== null) await goLive(company, workflow, subject);
        },
      };
    },
  ],
  [3, listed("list_workflows", ({ workflows }) => workflows.filter(({ isArchived }) => !isArchived))],
  [
    3,
    (company, pick) => {
      const own = live(company).filter(
        ({ project, calls, versions }) =>
          company.ownProjects.includes(project) &&
          calls === null &&
          versions.every(({ content }) => !content.usesDatabase && content.trigger === null),
      );
      const workflow = pick.one(own);
      if (workflow === undefined) return undefined;
      const other = company.ownProjects.find((project) => project !== workflow.project)!;
      const isWithdrawal = callersOf(company, workflow).length === 0 && pick.chance(0.2);
      const projects = isWithdrawal ? [] : [other];
      return {
        operation: "offer_workflow",
        input: { workflow_id: workflow.id, projects },
        expected: (actor) => rules.offer(company, actor, workflow),
        after: () => void (workflow.offeredTo = projects),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => kindOf(one) === "with state"));
      if (workflow === undefined) return undefined;
      return {
        operation: "set_workflow_state",
        input: { workflow_id: workflow.id, values: { last: `${pick.number(1_000)}` } },
        expected: (actor) => may(company, actor, "set_workflow_state", ofWorkflow(workflow)),
      };
    },
  ],
  [
    8,
    async (company, pick) => {
      const review = await choosePendingReview(company, pick);
      if (review === undefined) return undefined;
      const { id, workflow, version } = review;
      const { digest } = (await company.instance.read.reviews.find(id))!;
      const isApproval = pick.chance(0.7);
      const decision = isApproval ? { decision: "approve", digest } : { decision: "reject", comment: "No." };
      return {
        operation: "decide_review",
        input: { review_id: id, ...decision },
        expected(actor) {
          const answer = rules.decideReview(company, actor, review);
          // The published version may be another one since.
          return isApproval && answer === "ok" ? "ok|review_changed" : answer;
        },
        async after(actor) {
          if (isApproval) await publish(company, { workflow, version, by: actor, startsFor: review.by });
        },
      };
    },
  ],
  [
    1,
    async (company, pick) => {
      const review = await choosePendingReview(company, pick);
      if (review === undefined) return undefined;
      return {
        operation: "withdraw_review",
        input: { review_id: review.id },
        expected: (actor) => rules.withdraw(company, actor, review),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const review = pick.chance(0.4);
      return {
        operation: "update_project",
        input: { project, review },
        expected: (actor) => rules.requireReviews(company, actor, project, review),
        after: () => void (review ? company.reviewed.add(project) : company.reviewed.delete(project)),
      };
    },
  ],
];

async function choosePendingReview({ reviews, instance }: Company, pick: Pick): Promise<Review | undefined> {
  while (reviews.length > 0) {
    const review = pick.one(reviews)!;
    if ((await instance.read.reviews.find(review.id))?.status === "pending") return review;
    reviews.splice(reviews.indexOf(review), 1);
  }
  return undefined;
}
