/** Approvals: who sees them, who may decide them, and to whom they are passed on. */
import type { Company } from "./company.ts";
import type { Actor, Approval } from "./made.ts";
import { newLinkToken } from "../../../src/auth/links.ts";
import { iso } from "../../../src/core/clock.ts";
import { approvalLinkWriter } from "../../../src/store/approval-delivery.ts";
import { answerTo, sees } from "./conditions.ts";
import { mayDecide, mayDecideByLink } from "./model.ts";
import type { Makers, Pick, Request } from "./request.ts";
import { itemsOf } from "./things.ts";

const isAssigned = ({ seats }: Approval): boolean => seats.size > 0;

export const APPROVAL_OPERATIONS: Makers = [
  [
    12,
    "decide_approval",
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      const override = pick.chance(0.3);
      const decision = pick.chance(0.7) ? "approve" : "decline";
      return {
        operation: "decide_approval",
        input: { approval_id: approval.id, decision, override },
        expected: (actor) => answerTo(company, actor, "decide_approval", { approval, override }),
        aspect: (actor) => mayDecide(company, actor, approval),
        after: () => company.settle(),
      };
    },
  ],
  [6, "decide_approval", decideByLink],
  [
    16,
    "get_approval",
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      return {
        operation: "get_approval",
        input: { approval_id: approval.id },
        expected: (actor) => answerTo(company, actor, "get_approval", { approval }),
        aspect: (actor) => mayDecide(company, actor, approval),
        check: (actor, output) => checkRight(company, actor, approval, output.you),
      };
    },
  ],
  [
    4,
    "list_approvals",
    async (company, pick) => {
      const approval = await choosePending(company, pick);
      if (approval === undefined) return undefined;
      const { project, workflow } = approval.run;
      return {
        operation: "list_approvals",
        input: { run_id: approval.run.id },
        expected: (actor) => answerTo(company, actor, "list_approvals"),
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
    "delegate_approval",
    async (company, pick) => {
      const approval = await choosePending(company, pick, pick.chance(0.9) ? isAssigned : undefined);
      const to = pick.one([...company.people.keys()])!;
      if (approval === undefined) return undefined;
      return {
        operation: "delegate_approval",
        input: { approval_id: approval.id, to },
        actors: company.actors.filter(({ owner }) => owner !== to),
        expected: (actor) => answerTo(company, actor, "delegate_approval", { approval, to }),
        aspect: (actor) => mayDecide(company, actor, approval, "delegate_approval"),
        after({ owner }) {
          for (const [seat, holder] of approval.seats) if (holder === owner) approval.seats.set(seat, to);
        },
      };
    },
  ],
];

/** With a link, as a mail to its recipient has it: also to people who would get no mail. */
async function decideByLink(company: Company, pick: Pick): Promise<Request | undefined> {
  const { instance, people, stranger } = company;
  const approval = await choosePending(company, pick, pick.chance(0.8) ? isLinked : undefined);
  if (approval === undefined) return undefined;
  const recipient = pick.one([...people.keys(), stranger, stranger, ...company.assignees])!;
  const record = (await instance.read.approvals.find(approval.id))!;
  const { digest: planDigest } = await instance.services.engine.remainingWork(instance.read, record);
  return {
    operation: "decide_approval",
    input: { approval_id: approval.id, recipient },
    async send() {
      const { token, digest } = newLinkToken();
      const createdAt = iso(instance.clock.now());
      await instance.store.transaction((trx) =>
        approvalLinkWriter(trx).insert({
          digest,
          approvalId: approval.id,
          recipient,
          planDigest,
          createdAt,
        }),
      );
      const status = await company.postForm(`/decide/${token}`, {
        decision: "approve",
        plan_digest: planDigest,
      });
      return { answer: ANSWER_OF_LINK[status] ?? `status ${status}`, output: undefined };
    },
    expected: () =>
      mayDecideByLink(company, recipient, approval) ? "ok" : "approval_not_yours|link_expired",
    after: () => company.settle(),
  };
}
const isLinked = ({ run }: Approval): boolean => run.content.linksTo !== null;
const ANSWER_OF_LINK: Readonly<Record<number, string>> = {
  200: "ok",
  403: "approval_not_yours",
  410: "link_expired",
};

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
