/** What starts runs without a caller: triggers, schedules and backfills. */
import { type Company, HOOK_SECRET } from "./company.ts";
import type { Actor } from "./made.ts";
import { contentOf } from "./definitions.ts";
import { answerTo, showsTriggerUrl } from "./conditions.ts";
import { causes as causesOf, has } from "./model.ts";
import type { Maker, Makers } from "./request.ts";
import { hasSchedule, hasTrigger, kindOf, live, readUrl, remember, runOf } from "./things.ts";

/** The rights to change a workflow and to run it: some callers have one of them. */
const heldIn = (company: Company, actor: Actor, project: string): string =>
  `${has(company, actor, project, "write")} ${has(company, actor, project, "run")} ${actor.limits.databases?.join(" ")}`;

export const START_OPERATIONS: Makers = [
  [
    10,
    "get_triggers",
    (company, pick) => {
      const workflow = pick.one(pick.chance(0.7) ? company.workflows.filter(hasTrigger) : live(company));
      if (workflow === undefined) return undefined;
      const content = contentOf(kindOf(workflow));
      return {
        operation: "get_triggers",
        input: { workflow_id: workflow.id },
        expected: (actor) => answerTo(company, actor, "get_triggers", { workflow }),
        aspect: (actor) => heldIn(company, actor, workflow.project),
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
    "rotate_trigger",
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasTrigger));
      if (workflow === undefined) return undefined;
      return {
        operation: "rotate_trigger",
        input: { workflow_id: workflow.id, trigger: "hook" },
        expected: (actor) => answerTo(company, actor, "rotate_trigger", { workflow }),
        aspect: (actor) => heldIn(company, actor, workflow.project),
        check(actor, { url }) {
          const wanted = showsTriggerUrl(company, actor, workflow, contentOf(kindOf(workflow)));
          return (url !== undefined) === wanted ? undefined : `url expected: ${wanted}`;
        },
        after: () => readUrl(company, workflow),
      };
    },
  ],
  [
    12,
    "redeliver_trigger_delivery",
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasTrigger));
      if (workflow === undefined) return undefined;
      const { url, published } = workflow;
      const isSigned = pick.chance(0.7);
      const isAnonymous = contentOf(kindOf(workflow)).trigger === "unsigned";
      const accepted = isSigned || isAnonymous;
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
          company.deliveries.push({ id, workflow, isAnonymous, causes: new Set() });
          const causes = causesOf.ofDelivery(workflow);
          await remember(company, { ...runOf(workflow, published!), id: runId, causes, isAnonymous });
        },
      };
    },
  ],
  [
    12,
    "redeliver_trigger_delivery",
    (company, pick) => {
      const known = company.deliveries.filter(({ workflow }) => hasTrigger(workflow));
      const asking = known.filter(({ workflow }) => contentOf(kindOf(workflow)).asks);
      const delivery = pick.one(asking.length > 0 && pick.chance(0.6) ? asking : known);
      if (delivery === undefined) return undefined;
      const { id, workflow, isAnonymous } = delivery;
      // Somebody unknown could have started it, and decide: then no run starts, although the trigger has a signature now.
      const isStarted = !isAnonymous || !contentOf(kindOf(workflow)).asks;
      return {
        operation: "redeliver_trigger_delivery",
        input: { workflow_id: workflow.id, delivery_id: id },
        expected: (actor) => answerTo(company, actor, "redeliver_trigger_delivery", { workflow }),
        aspect: (actor) => heldIn(company, actor, workflow.project),
        async check(_, output) {
          await company.settle();
          const started = (await runOfDelivery(company, output.id)) !== undefined;
          return started === isStarted ? undefined : `started a run: ${started}, expected: ${isStarted}`;
        },
        async after(actor, output) {
          const causes = causesOf.ofRedelivery(actor, delivery);
          company.deliveries.push({ ...delivery, id: output.id, causes });
          if (!isStarted) return;
          const run = runOf(workflow, workflow.published!);
          await remember(company, {
            ...run,
            id: (await runOfDelivery(company, output.id))!,
            causes,
            isAnonymous,
          });
        },
      };
    },
  ],
  [2, "pause_schedule", ofSchedule("pause_schedule")],
  [6, "resume_schedule", ofSchedule("resume_schedule")],
  [
    2,
    "start_backfill",
    (company, pick) => {
      const workflow = pick.one(company.workflows.filter(hasSchedule));
      if (workflow === undefined) return undefined;
      const day = `2026-0${1 + pick.number(9)}-${10 + pick.number(18)}`;
      return {
        operation: "start_backfill",
        input: { workflow_id: workflow.id, from: day, to: day },
        expected: (actor) => answerTo(company, actor, "start_backfill", { workflow }),
        async after(_, { id }) {
          company.backfills.push({ id, workflow, project: workflow.project });
          await company.settle();
        },
      };
    },
  ],
  [2, "get_backfill", ofBackfill("get_backfill")],
  [2, "cancel_backfill", ofBackfill("cancel_backfill")],
];

/** The run that a delivery has started; undefined for none. */
async function runOfDelivery({ instance: { read } }: Company, id: string): Promise<string | undefined> {
  const { runId } = (await read.triggerDeliveries.find(id))!;
  return (await read.runs.find(runId!))?.id;
}

function ofSchedule(operation: "pause_schedule" | "resume_schedule"): Maker {
  return (company, pick) => {
    const workflow = pick.one(company.workflows.filter(hasSchedule));
    if (workflow === undefined) return undefined;
    return {
      operation,
      input: { workflow_id: workflow.id },
      aspect: (actor) => heldIn(company, actor, workflow.project),
      expected: (actor) => answerTo(company, actor, operation, { workflow }),
      after: () => void (workflow.isPaused = operation === "pause_schedule"),
    };
  };
}

function ofBackfill(operation: "get_backfill" | "cancel_backfill"): Maker {
  return (company, pick) => {
    const backfill = pick.one(company.backfills);
    if (backfill === undefined) return undefined;
    const { id, workflow, project: startedIn } = backfill;
    return {
      operation,
      input: { workflow_id: workflow.id, backfill_id: id },
      expected(actor) {
        const answer = answerTo(company, actor, operation, { workflow, startedIn });
        return operation === "cancel_backfill" && answer === "ok" ? "ok|backfill_finished" : answer;
      },
    };
  };
}
