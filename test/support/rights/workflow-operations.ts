/** Workflows: saved, published, reviewed, archived, restored, offered. */
import { readExposure } from "../../../tools/workflows/exposure.ts";
import type { Workflow } from "./made.ts";
import { callOf, contentOf, definitionOf, type Kind, KINDS } from "./definitions.ts";
import { answerTo } from "./conditions.ts";
import { needsReview } from "./model.ts";
import type { Makers } from "./request.ts";
import { callersOf, goLive, isLive, kindOf, listed, live, publish } from "./things.ts";

/** Maximum number of workflows: with fewer, requests meet what others have done. */
const MAX_WORKFLOWS = 12;
/** Kinds that are created more often: what most rules are about. */
const OFTEN: readonly Kind[] = [
  "asks",
  "asks",
  "assigned",
  "with links",
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
    "create_workflow",
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const kind = pick.one([...KINDS, ...OFTEN])!;
      if (company.workflows.length > MAX_WORKFLOWS) return undefined;
      const name = `W ${company.number} ${company.workflows.length}`;
      const definition = definitionOf(kind, pick.number(1_000_000), company.assignees);
      return {
        operation: "create_workflow",
        input: { project, name, definition },
        expected: (actor) => answerTo(company, actor, "create_workflow", { project }),
        after: ({ subject }, { id }) => void company.workflows.push(newWorkflow(id, project, kind, subject)),
      };
    },
  ],
  [
    2,
    "create_workflow",
    (company, pick) => {
      const callee = pick.one(live(company).filter((one) => isLive(one) && one.offeredTo.length > 0));
      if (callee === undefined) return undefined;
      const project = callee.offeredTo[0]!;
      const name = `C ${company.number} ${company.workflows.length}`;
      const definition = callOf(callee.id, pick.number(1_000_000));
      return {
        operation: "create_workflow",
        input: { project, name, definition },
        expected: (actor) => answerTo(company, actor, "create_workflow", { project }),
        after: ({ subject }, { id }) =>
          void company.workflows.push({ ...newWorkflow(id, project, "plain", subject), calls: callee }),
      };
    },
  ],
  [
    8,
    "update_workflow",
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
        expected: (actor) => answerTo(company, actor, "update_workflow", { workflow, isDraft: true }),
        after: ({ subject }) => void workflow.versions.push({ by: subject, kind, content: contentOf(kind) }),
      };
    },
  ],
  [
    2,
    "update_workflow",
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      return {
        operation: "update_workflow",
        input: { workflow_id: workflow.id, description: `Text ${pick.number(1_000_000)}` },
        expected: (actor) => answerTo(company, actor, "update_workflow", { workflow }),
        after: ({ subject }) => void workflow.versions.push({ ...workflow.versions.at(-1)!, by: subject }),
      };
    },
  ],
  [
    8,
    "publish_workflow",
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      const { versions } = workflow;
      const version = pick.chance(0.7) ? versions.length : 1 + pick.number(versions.length);
      return {
        operation: "publish_workflow",
        input: { workflow_id: workflow.id, version },
        expected: (actor) => answerTo(company, actor, "publish_workflow", { workflow, version }),
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
    "unpublish_workflow",
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => callersOf(company, one).length === 0));
      if (workflow === undefined) return undefined;
      return {
        operation: "unpublish_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => answerTo(company, actor, "unpublish_workflow", { workflow }),
        after: () => void (workflow.published = null),
      };
    },
  ],
  [
    2,
    "archive_workflow",
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => callersOf(company, one).length === 0));
      if (workflow === undefined) return undefined;
      return {
        operation: "archive_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => answerTo(company, actor, "archive_workflow", { workflow }),
        after() {
          workflow.isArchived = true;
          workflow.versions.push({ ...workflow.versions.at(-1)!, by: null });
        },
      };
    },
  ],
  [
    4,
    "restore_workflow",
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(({ isArchived }) => isArchived));
      if (workflow === undefined) return undefined;
      return {
        operation: "restore_workflow",
        input: { workflow_id: workflow.id },
        expected: (actor) => answerTo(company, actor, "restore_workflow", { workflow }),
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
  [
    3,
    "list_workflows",
    listed("list_workflows", ({ workflows }) => workflows.filter(({ isArchived }) => !isArchived)),
  ],
  [
    3,
    "offer_workflow",
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
        expected: (actor) => answerTo(company, actor, "offer_workflow", { workflow }),
        after: () => void (workflow.offeredTo = projects),
      };
    },
  ],
  [
    1,
    "reset_workflow_state",
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => kindOf(one) === "with state"));
      if (workflow === undefined) return undefined;
      return {
        operation: "reset_workflow_state",
        input: { workflow_id: workflow.id, reason: "Again." },
        expected: (actor) => answerTo(company, actor, "reset_workflow_state", { workflow }),
      };
    },
  ],
  [
    3,
    "allow_exposure",
    async (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => isLive(one) && kindOf(one) === "exposed"));
      if (workflow === undefined) return undefined;
      const { digest } = await readExposure(company.instance.read.workflows, workflow.id);
      return {
        operation: "allow_exposure",
        input: { workflow_id: workflow.id, digest },
        expected: (actor) => answerTo(company, actor, "allow_exposure", { workflow }),
      };
    },
  ],
  [
    1,
    "withdraw_exposure",
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      return {
        operation: "withdraw_exposure",
        input: { workflow_id: workflow.id },
        expected: (actor) => answerTo(company, actor, "withdraw_exposure", { workflow }),
      };
    },
  ],
  [
    2,
    "set_workflow_state",
    (company, pick) => {
      const workflow = pick.one(live(company).filter((one) => kindOf(one) === "with state"));
      if (workflow === undefined) return undefined;
      return {
        operation: "set_workflow_state",
        input: { workflow_id: workflow.id, values: { last: `${pick.number(1_000)}` } },
        expected: (actor) => answerTo(company, actor, "set_workflow_state", { workflow }),
      };
    },
  ],
];
