/** Approvals: who sees them, who may decide them, and to whom they are passed on. */
import type { Actor, Approval, Company } from "./company.ts";
import { may, mayDecide, rules, sees } from "./model.ts";
import type { Makers, Pick } from "./request.ts";
import { itemsOf } from "./things.ts";

const isAssigned = ({ seats }: Approval): boolean => seats.size > 0;

export const APPROVAL_OPERATIONS: Makers = [
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
];

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
