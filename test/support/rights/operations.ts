/** What actors do in a sequence: what a request is about, what the model says of it, and what is so after it. */
import type { ApprovalRecord } from "../../../src/core/model.ts";
import {
  type Actor,
  type Answered,
  type Approval,
  type Company,
  HOOK_SECRET,
  type Review,
  type Run,
  type Workflow,
} from "./company.ts";
import { callOf, contentOf, definitionOf, type Kind, KINDS, OTHER_DATABASE } from "./definitions.ts";
import {
  type Answer,
  DEFAULT,
  has,
  keeps,
  may,
  mayDecide,
  needsReview,
  ofProject,
  ofWorkflow,
  type Operation,
  type Role,
  rules,
  type Scope,
  sees,
  showsEventUrl,
  showsTriggerUrl,
} from "./model.ts";

export interface Pick {
  one<T>(values: readonly T[]): T | undefined;
  some<T>(values: readonly T[]): T[];
  number(below: number): number;
  chance(probability: number): boolean;
}

export interface Request {
  operation: Operation;
  input: Record<string, unknown>;
  expected(actor: Actor): Answer;
  /** Sends it without a key, in place of the actor. */
  send?(): Promise<Answered>;
  /** Who may send it; default: everybody. */
  actors?: readonly Actor[];
  /** What callers with the same answer differ in. */
  aspect?(actor: Actor): string;
  /** What is wrong with an accepted answer; undefined for nothing. */
  check?(actor: Actor, output: Answered["output"]): string | undefined;
  /** Changes what the model knows. */
  after?(actor: Actor, output: Answered["output"]): Promise<void> | void;
}

type Maker = (company: Company, pick: Pick) => Promise<Request | undefined> | Request | undefined;

const live = ({ workflows }: Company): Workflow[] => workflows.filter(({ isArchived }) => !isArchived);
const isLive = ({ isArchived, published }: Workflow): boolean => !isArchived && published !== null;
const kindOf = ({ versions, published }: Workflow): Kind =>
  versions[(published ?? versions.length) - 1]!.kind;
const hasSchedule = (workflow: Workflow): boolean =>
  isLive(workflow) && kindOf(workflow).startsWith("scheduled");
const hasTrigger = (workflow: Workflow): boolean =>
  isLive(workflow) && contentOf(kindOf(workflow)).trigger !== null;
const callersOf = ({ workflows }: Company, callee: Workflow): Workflow[] =>
  workflows.filter(({ calls }) => calls === callee);
const itemsOf = (output: Answered["output"]): { id: string; project?: string }[] =>
  Array.isArray(output) ? output : output.items;
const statusOf = async ({ instance }: Company, { id }: Run): Promise<string> =>
  (await instance.read.runs.find(id))!.status;
/** Maximum number of workflows: with fewer, requests meet what others have done. */
const MAX_WORKFLOWS = 12;
const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

async function chooseRun(
  company: Company,
  pick: Pick,
  isEnded: boolean,
  fits: (run: Run) => boolean = () => true,
): Promise<Run | undefined> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const run = pick.one(company.runs.filter(fits));
    if (run !== undefined && ENDED.has(await statusOf(company, run)) === isEnded) return run;
  }
  return undefined;
}

/** Forgets the approvals that it finds decided. */
async function choosePending(
  { approvals, instance }: Company,
  pick: Pick,
  fits: (approval: Approval) => boolean = () => true,
): Promise<Approval | undefined> {
  while (true) {
    const approval = pick.one(approvals.filter(fits));
    if (approval === undefined) return undefined;
    if ((await instance.read.approvals.find(approval.id))?.status === "pending") return approval;
    approvals.splice(approvals.indexOf(approval), 1);
  }
}

const isAssigned = ({ seats }: Approval): boolean => seats.size > 0;

async function choosePendingReview({ reviews, instance }: Company, pick: Pick): Promise<Review | undefined> {
  while (reviews.length > 0) {
    const review = pick.one(reviews)!;
    if ((await instance.read.reviews.find(review.id))?.status === "pending") return review;
    reviews.splice(reviews.indexOf(review), 1);
  }
  return undefined;
}

/** Remembers a run that was started, and the approvals that it and the run that it calls have asked for. */
async function remember(company: Company, run: Run): Promise<void> {
  await company.settle();
  const { read } = company.instance;
  company.runs.push(run);
  const add = (found: ApprovalRecord | undefined, of: Run): void => {
    if (found === undefined || found.status !== "pending") return;
    const seats = new Map(found.assignees.map((assignee) => [assignee, assignee]));
    company.approvals.push({ id: found.id, run: of, seats });
  };
  add(await read.approvals.findByStep({ runId: run.id, stepId: "ask", item: null }), run);
  const callee = run.workflow?.calls;
  const step = callee && (await read.runs.step({ runId: run.id, stepId: "call", item: null }));
  if (!callee || !step?.childRun) return;
  const version = callee.published!;
  const child: Run = {
    ...run,
    id: step.childRun,
    project: callee.project,
    workflow: callee,
    version,
    kind: kindOf(callee),
    content: contentOf(kindOf(callee)),
    versions: [...run.versions, { workflow: callee, version }],
  };
  add(await read.approvals.findByStep({ runId: child.id, stepId: "ask", item: null }), child);
}

/** A run of a version, as the model knows it before it has an id. */
function runOf(workflow: Workflow, version: number): Run {
  const { kind, content } = workflow.versions[version - 1]!;
  const callee = workflow.calls;
  return {
    id: "",
    project: workflow.project,
    workflow,
    kind,
    version,
    content: callee === null ? content : { ...content, usesDatabase: contentOf(kindOf(callee)).usesDatabase },
    isUnsaved: false,
    isTrial: false,
    writers: null,
    causes: new Set(),
    versions: [{ workflow, version }],
  };
}

async function readUrl({ instance }: Company, workflow: Workflow): Promise<void> {
  const [record] = await instance.read.triggers.ofWorkflow(workflow.id);
  workflow.url =
    record === undefined ? null : new URL(await instance.services.engine.triggers.url(record)).pathname;
}

async function publish(
  company: Company,
  { workflow, version, by, startsFor }: { workflow: Workflow; version: number; by: Actor; startsFor: string },
): Promise<void> {
  const last = workflow.reviews.findLast((review) => review.version === version);
  if (last?.by !== by.subject)
    workflow.reviews.push({ version, by: by.subject, isPersonal: by.kind === "session" });
  if (workflow.published === version) return;
  workflow.published = version;
  await goLive(company, workflow, startsFor);
}

/** What follows from it that a version is live now. */
async function goLive(company: Company, workflow: Workflow, subject: string): Promise<void> {
  workflow.startsFor = subject;
  await readUrl(company, workflow);
}

const MAKERS: readonly (readonly [weight: number, maker: Maker])[] = [
  [
    6,
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const kind = pick.one([...KINDS, "asks", "asks", "assigned", "assigned", "database"] as const)!;
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
  [
    26,
    (company, pick) => {
      const asking = live(company).filter((one) => contentOf(kindOf(one)).asks);
      const workflow = pick.one(asking.length > 0 && pick.chance(0.6) ? asking : live(company));
      if (workflow === undefined) return undefined;
      const { id, versions, published } = workflow;
      const given = pick.chance(0.15) ? { given: { note: { mark: 1 } } } : {};
      const isTrial = "given" in given;
      const requested = pick.chance(0.3) ? { version: 1 + pick.number(versions.length) } : {};
      const version = requested.version ?? published ?? versions.length;
      const run: Run = { ...runOf(workflow, version), isUnsaved: isTrial, isTrial };
      return {
        operation: "run_workflow",
        input: { workflow_id: id, wait: 0, ...requested, ...given },
        expected: (actor) => rules.runVersion(company, actor, workflow, run),
        after: ({ subject }, output) =>
          remember(company, { ...run, id: output.id, causes: new Set([subject]) }),
      };
    },
  ],
  [
    3,
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const step = { type: "set", values: { n: pick.number(1_000) } };
      const run: Run = {
        ...NO_RUN,
        project,
        isUnsaved: true,
        writers: new Set(),
      };
      return {
        operation: "run_step",
        input: { step, project, wait: 0 },
        expected: (actor) => rules.runStep(company, actor, run),
        after: ({ subject }, output) =>
          remember(company, {
            ...run,
            id: output.id,
            causes: new Set([subject]),
            writers: new Set([subject]),
          }),
      };
    },
  ],
  [12, retry],
  [
    3,
    async (company, pick) => {
      const run = await chooseRun(company, pick, false);
      if (run === undefined) return undefined;
      return {
        operation: "cancel_run",
        input: { run_id: run.id },
        expected: (actor) => rules.cancel(company, actor, run),
        after: () => company.settle(),
      };
    },
  ],
  [
    5,
    async (company, pick) => {
      const run = pick.one(company.runs);
      if (run === undefined) return undefined;
      const status = await statusOf(company, run);
      const waits = run.kind === "with an event" && !ENDED.has(status);
      return {
        operation: "get_run",
        input: { run_id: run.id, detail: "steps" },
        expected: (actor) => rules.readRun(company, actor, run),
        check(actor, { steps }) {
          const shown = (steps as { event_url?: string }[]).some((step) => step.event_url !== undefined);
          const wanted = waits && showsEventUrl(company, actor, run);
          return shown === wanted ? undefined : `event_url shown: ${shown}, expected: ${wanted}`;
        },
      };
    },
  ],
  [
    12,
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      const override = pick.chance(0.3);
      const decision = pick.chance(0.7) ? "approve" : "decline";
      return {
        operation: "decide_approval",
        input: { approval_id: approval.id, decision, override },
        expected: (actor) => rules.decide(company, actor, approval, override),
        aspect: (actor) => mayDecide(company, actor, approval),
        after: () => company.settle(),
      };
    },
  ],
  [
    16,
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      return {
        operation: "get_approval",
        input: { approval_id: approval.id },
        expected: (actor) => rules.readApproval(company, actor, approval),
        aspect: (actor) => mayDecide(company, actor, approval),
        check: (actor, output) => checkRight(company, actor, approval, output.you),
      };
    },
  ],
  [
    4,
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      const { project, workflow } = approval.run;
      return {
        operation: "list_approvals",
        input: { run_id: approval.run.id },
        expected: (actor) => may(company, actor, "list_approvals"),
        aspect: (actor) =>
          `${mayDecide(company, actor, approval)} ${sees(company, actor, { project, workflow: workflow?.id ?? null })}`,
        check(actor, output) {
          const items = itemsOf(output) as unknown as { you: { can_decide: boolean } }[];
          const shown = sees(company, actor, { project, workflow: workflow?.id ?? null });
          if (items.length !== Number(shown)) return `${items.length} approvals shown, expected: ${shown}`;
          return shown ? checkRight(company, actor, approval, items[0]!.you) : undefined;
        },
      };
    },
  ],
  [
    4,
    async (company, pick) => {
      const approval = await choosePending(company, pick, pick.chance(0.9) ? isAssigned : undefined);
      const to = pick.one([...company.people.keys()])!;
      if (approval === undefined) return undefined;
      return {
        operation: "delegate_approval",
        input: { approval_id: approval.id, to },
        actors: company.actors.filter(({ owner }) => owner !== to),
        expected: (actor) => rules.delegate(company, actor, approval, to),
        aspect: (actor) => mayDecide(company, actor, approval),
        after({ owner }) {
          for (const [seat, holder] of approval.seats) if (holder === owner) approval.seats.set(seat, to);
        },
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
  [3, listed("list_workflows", ({ workflows }) => workflows.filter(({ isArchived }) => !isArchived))],
  [2, listed("list_runs", ({ runs }) => runs)],
  [
    4,
    (company, pick) => {
      const workflow = pick.one(live(company));
      if (workflow === undefined) return undefined;
      const content = contentOf(kindOf(workflow));
      return {
        operation: "get_triggers",
        input: { workflow_id: workflow.id },
        expected: (actor) => may(company, actor, "get_triggers", ofWorkflow(workflow)),
        check(actor, { items }) {
          const shown = (items as { url?: string }[]).some(({ url }) => url !== undefined);
          const wanted = hasTrigger(workflow) && showsTriggerUrl(company, actor, workflow, content);
          return shown === wanted ? undefined : `url shown: ${shown}, expected: ${wanted}`;
        },
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasTrigger));
      if (workflow === undefined) return undefined;
      return {
        operation: "rotate_trigger",
        input: { workflow_id: workflow.id, trigger: "hook" },
        expected: (actor) => may(company, actor, "rotate_trigger", ofWorkflow(workflow)),
        check(actor, { url }) {
          const wanted = showsTriggerUrl(company, actor, workflow, contentOf(kindOf(workflow)));
          return (url !== undefined) === wanted ? undefined : `url expected: ${wanted}`;
        },
        after: () => readUrl(company, workflow),
      };
    },
  ],
  [
    5,
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasTrigger));
      if (workflow === undefined) return undefined;
      const { url, startsFor, published } = workflow;
      const isSigned = pick.chance(0.7);
      const accepted = isSigned || contentOf(kindOf(workflow)).trigger === "unsigned";
      return {
        operation: "redeliver_trigger_delivery",
        input: { deliver_to: workflow.id, signed: isSigned },
        async send() {
          const headers: Record<string, string> = isSigned ? { "X-Webhook-Secret": HOOK_SECRET } : {};
          const { status, body } = await company.deliver(url!, headers);
          return { answer: status === 202 ? "ok" : body.code, output: body };
        },
        expected: () => (accepted ? "ok" : "signature_invalid"),
        async after(_, { delivery_id: id, run_id: runId }) {
          company.deliveries.push({ id, workflow });
          const causes = new Set([startsFor!]);
          await remember(company, { ...runOf(workflow, published!), id: runId, causes });
        },
      };
    },
  ],
  [
    5,
    (company, pick) => {
      const delivery = pick.one(company.deliveries.filter(({ workflow }) => hasTrigger(workflow)));
      if (delivery === undefined) return undefined;
      const { id, workflow } = delivery;
      return {
        operation: "redeliver_trigger_delivery",
        input: { workflow_id: workflow.id, delivery_id: id },
        expected: (actor) => rules.redeliver(company, actor, workflow),
        async after({ subject }, output) {
          await company.settle();
          const { runId } = (await company.instance.read.triggerDeliveries.find(output.id))!;
          const causes = new Set([workflow.startsFor!]);
          if (keeps("who redelivers a delivery is on record")) causes.add(subject);
          await remember(company, { ...runOf(workflow, workflow.published!), id: runId!, causes });
        },
      };
    },
  ],
  [2, ofSchedule("pause_schedule")],
  [3, ofSchedule("resume_schedule")],
  [
    2,
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasSchedule));
      if (workflow === undefined) return undefined;
      const day = `2026-0${1 + pick.number(9)}-${10 + pick.number(18)}`;
      return {
        operation: "start_backfill",
        input: { workflow_id: workflow.id, from: day, to: day },
        expected: (actor) => rules.backfill(company, actor, workflow),
        after: () => company.settle(),
      };
    },
  ],
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
    2,
    (company, pick) => {
      const project = pick.one(company.projects)!;
      const input = { name: "s", url: "https://example.com/hook", events: ["workflow.overdue"] };
      return {
        operation: "create_subscription",
        input: { ...input, project },
        expected: (actor) => may(company, actor, "create_subscription", ofProject(project)),
        after: (_, { id }) => void company.subscriptions.push({ id, project }),
      };
    },
  ],
  [1, ofSubscription("get_subscription")],
  [1, ofSubscription("update_subscription")],
  [1, ofSubscription("delete_subscription")],
  [3, createKey],
  [1, endKey("revoke_api_key")],
  [1, endKey("rotate_api_key")],
  [
    2,
    (company) => ({
      operation: "describe_key",
      input: { key_id: "self" },
      actors: company.actors.filter(({ kind }) => kind === "key"),
      expected: (actor) => may(company, actor, "describe_key"),
    }),
  ],
  [
    2,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].slice(1))!;
      const role = pick.one(["viewer", "editor", "editor", "admin"] as const)!;
      return {
        operation: "set_project_member",
        input: { project, email: person.email, role },
        expected: (actor) => may(company, actor, "set_project_member", ofProject(project)),
        after: () => void person.roles.set(project, role),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      const person = pick.one([...company.people.values()].filter(({ roles }) => roles.has(project)));
      if (person === undefined) return undefined;
      return {
        operation: "remove_project_member",
        input: { project, email: person.email },
        expected: (actor) => may(company, actor, "remove_project_member", ofProject(project)),
        after: () => void person.roles.delete(project),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "list_project_members",
        input: { project },
        expected: (actor) => may(company, actor, "list_project_members", ofProject(project)),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const project = pick.one(company.ownProjects)!;
      return {
        operation: "update_project",
        input: { project, description: `Text ${pick.number(1_000)}` },
        expected: (actor) => may(company, actor, "update_project", ofProject(project)),
      };
    },
  ],
  [
    1,
    (company, pick) => {
      const person = pick.one([...company.people.values()].slice(1))!;
      const role = pick.one(["member", "member", "viewer", "editor"] as const)!;
      return {
        operation: "update_user",
        input: { user_id: company.userIds.get(person.email), role },
        expected: (actor) => may(company, actor, "update_user"),
        after: () => void (person.role = role satisfies Role),
      };
    },
  ],
  [
    2,
    (company, pick) => {
      const project = pick.chance(0.5) ? pick.one(company.ownProjects)! : undefined;
      return {
        operation: "list_audit_log",
        input: { ...(project !== undefined && { project }), limit: 20 },
        expected: (actor) =>
          may(company, actor, "list_audit_log", project === undefined ? undefined : ofProject(project)),
        check: (actor, output) =>
          itemsOf(output)
            .map((entry) => entry.project ?? DEFAULT)
            .filter((id) => company.projects.includes(id) && !has(company, actor, id, "admin"))
            .map((id) => `shows entries of ${id}`)[0],
      };
    },
  ],
];

const NO_RUN: Omit<Run, "project" | "isUnsaved" | "writers"> = {
  id: "",
  workflow: null,
  kind: "plain",
  version: 0,
  content: contentOf("plain"),
  isTrial: false,
  causes: new Set(),
  versions: [],
};

const newWorkflow = (id: string, project: string, kind: Kind, by: string): Workflow => ({
  id,
  project,
  isArchived: false,
  published: null,
  versions: [{ by, kind, content: contentOf(kind) }],
  reviews: [],
  calls: null,
  offeredTo: [],
  startsFor: null,
  url: null,
});

function checkRight(
  company: Company,
  actor: Actor,
  approval: Approval,
  you: { can_decide: boolean; override?: boolean },
): string | undefined {
  const right = mayDecide(company, actor, approval);
  const shown = you.can_decide && (you.override === true ? "override" : "ok");
  return shown === (right === "ok" || right === "override" ? right : false)
    ? undefined
    : `you: ${JSON.stringify(you)}, expected: ${right}`;
}

function listed(
  operation: "list_workflows" | "list_runs",
  all: (company: Company) => readonly (Workflow | Run)[],
): Maker {
  return (company, pick) => {
    const project = pick.one(company.ownProjects)!;
    return {
      operation,
      input: { project, limit: 100 },
      expected: (actor) =>
        may(company, actor, operation) === "ok" && !has(company, actor, project, "read")
          ? "project_not_found"
          : may(company, actor, operation),
      check(actor, output) {
        const ids = new Set(itemsOf(output).map(({ id }) => id));
        for (const thing of all(company)) {
          const workflow = "kind" in thing ? (thing.workflow?.id ?? null) : thing.id;
          const wanted = thing.project === project && sees(company, actor, { project, workflow });
          if (wanted && ids.size === 100) continue;
          if (ids.has(thing.id) !== wanted) return `${thing.id} shown: ${!wanted}, expected: ${wanted}`;
        }
        return undefined;
      },
    };
  };
}

async function retry(company: Company, pick: Pick): Promise<Request | undefined> {
  const run = await chooseRun(company, pick, true, ({ workflow }) => workflow?.isArchived !== true);
  if (run === undefined) return undefined;
  const { workflow } = run;
  const isCall = workflow !== null && workflow.calls !== null;
  const way =
    workflow === null || isCall
      ? "plain"
      : pick.one(["plain", "plain", "patch", "definition", "version"] as const)!;
  const inputs =
    workflow !== null && !isCall && pick.chance(0.4) ? { inputs: { n: 1 + pick.number(9) } } : {};
  const kind = pick.one(["plain", "asks", "database"] as const)!;
  const version = workflow === null ? 0 : 1 + pick.number(workflow.versions.length);
  const changes = {
    plain: {},
    patch: { patch: [{ op: "update_step", id: "note", set: { values: { mark: pick.number(1_000) } } }] },
    definition: { definition: definitionOf(kind, pick.number(1_000), company.assignees) },
    version: { version },
  }[way];
  const isOwn = way === "patch" || way === "definition" || (way === "plain" && run.writers !== null);
  const base = way === "version" ? runOf(workflow!, version) : isCall ? runOf(workflow, run.version) : run;
  const next: Run = {
    ...base,
    ...(way === "definition" && { kind, content: contentOf(kind) }),
    isUnsaved: isOwn || run.isTrial,
    isTrial: run.isTrial,
    writers: isOwn ? (run.writers ?? new Set()) : null,
  };
  const isKept = !("inputs" in inputs) && keeps("who started a run is on record for its retries");
  return {
    operation: "retry_run",
    input: { run_id: run.id, confirm: true, wait: 0, ...changes, ...inputs },
    expected: (actor) => rules.retry(company, actor, run, next, way === "patch" || way === "definition"),
    after: ({ subject }, output) =>
      remember(company, {
        ...next,
        id: output.id,
        writers: next.writers && new Set([...next.writers, subject]),
        causes: new Set([subject, ...(next.writers ?? []), ...(isKept ? run.causes : [])]),
      }),
  };
}

function ofSchedule(operation: "pause_schedule" | "resume_schedule"): Maker {
  return (company, pick) => {
    const workflow = pick.one(company.workflows.filter(hasSchedule));
    if (workflow === undefined) return undefined;
    return {
      operation,
      input: { workflow_id: workflow.id },
      expected: (actor) =>
        operation === "resume_schedule"
          ? rules.resume(company, actor, workflow)
          : may(company, actor, operation, ofWorkflow(workflow)),
    };
  };
}

function ofSubscription(
  operation: "get_subscription" | "update_subscription" | "delete_subscription",
): Maker {
  return (company, pick) => {
    const subscription = pick.one(company.subscriptions);
    if (subscription === undefined) return undefined;
    const { id, project } = subscription;
    return {
      operation,
      input: { subscription_id: id, ...(operation === "update_subscription" && { name: "t" }) },
      expected: (actor) =>
        may(company, actor, operation, { project, workflow: null, missing: "subscription_not_found" }),
      after() {
        if (operation === "delete_subscription")
          company.subscriptions.splice(company.subscriptions.indexOf(subscription), 1);
      },
    };
  };
}

const SCOPES: readonly Scope[] = ["read", "write", "publish", "run", "approve", "admin"];
const TOOLS: readonly Operation[] = ["get_run", "run_workflow", "list_approvals", "decide_approval"];

function createKey(company: Company, pick: Pick): Request {
  const scopes: Scope[] = ["read", ...pick.some(SCOPES.slice(1))];
  const projects = [pick.one(company.projects)!, ...(pick.chance(0.4) ? company.ownProjects : [])];
  const workflow = pick.one(live(company));
  const limits = pick.one([
    {},
    {},
    { databases: [OTHER_DATABASE] },
    { tools: pick.some(TOOLS).concat("list_workflows") },
    workflow === undefined ? {} : { workflows: [workflow.id] },
  ])!;
  const wanted = { scopes, projects: [...new Set(projects)], limits };
  const byId = new Map(company.workflows.map((one) => [one.id, one]));
  return {
    operation: "create_api_key",
    input: { name: "made", ...wanted },
    expected: (actor) => rules.createKey(company, actor, wanted, byId),
    after({ owner, label }, { id, value }) {
      const record = { id, lineage: id, owner, ...wanted };
      company.addKey(value, record, `made by ${label}`);
    },
  };
}

function endKey(operation: "revoke_api_key" | "rotate_api_key"): Maker {
  return (company, pick) => {
    const key = pick.one(
      company.actors.filter(
        ({ kind, isValid, label }) =>
          kind === "key" && isValid && (label.startsWith("made") || label.startsWith("ben")),
      ),
    );
    if (key === undefined) return undefined;
    return {
      operation,
      input: { key_id: key.id, ...(operation === "rotate_api_key" && { overlap: "0s" }) },
      expected: (actor) => rules.endKey(company, actor, key, operation),
      after(_, { id, value }) {
        key.isValid = false;
        if (operation === "rotate_api_key")
          company.addKey(value, { ...key, id, lineage: key.subject }, "made by rotation");
      },
    };
  };
}

const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** Chooses an operation, and what it is about. */
export function chooseRequest(company: Company, pick: Pick): ReturnType<Maker> {
  let left = pick.number(TOTAL);
  const found = MAKERS.find(([weight]) => (left -= weight) < 0)!;
  return found[1](company, pick);
}
