/** Approvals as nodes: the question, the evidence, what runs next and who decides. Nothing here decides. */
import type { Approval } from "../../../schemas/approval.ts";
import type { ApprovalStatus } from "../../../schemas/run.ts";
import { assigneeNames, byText, isShared, progressText } from "../approvals/progress.ts";
import {
  isShown,
  OUTCOME_TITLES,
  PLAN_CHANGED,
  type PlannedWorkflow,
  ROLE_TEXTS,
  stepPrefix,
  whoDecides,
} from "../approvals/texts.ts";
import { formatRelativeTime } from "../ui/relative-time.ts";
import { APPROVAL_COLORS } from "../ui/status-colors.ts";
import { h, pageButton, type ViewNode } from "./nodes.ts";
import { valueNodes } from "./values.ts";
import type { Call, View } from "./view.ts";

/** The approvals of a list, and the one that is shown as a whole; null for the list. */
export interface ShownApprovals {
  approvals: readonly Approval[];
  selected: string | null;
}

const LIST = "list_approvals";
/** Maximum length of a list. */
const LIMIT = 100;
/** The statuses in which an approval is searched that is no longer pending. */
const OUTCOMES: readonly ApprovalStatus[] = ["approved", "declined", "expired", "cancelled"];

const selectedOf = ({ approvals, selected }: ShownApprovals): Approval | undefined =>
  approvals.find(({ id }) => id === selected);

export const APPROVAL_VIEW: View<ShownApprovals> = {
  read({ items }) {
    if (!Array.isArray(items)) return undefined;
    const approvals = items as Approval[];
    return { approvals, selected: approvals.length === 1 ? approvals[0]!.id : null };
  },
  async load(state, call) {
    const current = await findAgain(selectedOf(state)!, call);
    return {
      ...state,
      approvals: state.approvals.map((approval) => (approval.id === current.id ? current : approval)),
    };
  },
  isFinal: (state) => selectedOf(state)?.status !== "pending",
  show: (state, selected) => ({ ...state, selected }),
  nodes(state, now) {
    const approval = selectedOf(state);
    if (approval === undefined) return listNodes(state.approvals, now);
    const back = state.approvals.length === 1 ? [] : [BACK];
    return [...back, ...approvalNodes(approval, now)];
  },
};

/** The approval as it is now, with its plan while it is pending; as it was if it is beyond the end of a list. */
async function findAgain(approval: Approval, call: Call): Promise<Approval> {
  const find = async (status: ApprovalStatus): Promise<Approval | undefined> => {
    const { items } = await call(LIST, { run_id: approval.run_id, status, limit: LIMIT });
    return (items as Approval[]).find(({ id }) => id === approval.id);
  };
  const pending = await find("pending");
  if (pending !== undefined) return pending;
  for (const status of OUTCOMES) {
    const decided = await find(status);
    if (decided !== undefined) return decided;
  }
  return approval;
}

const BACK = h(
  "div",
  { class: "buttons" },
  h("button", { class: "plain", action: { show: null } }, "All approvals"),
);

function listNodes(approvals: readonly Approval[], now: number): ViewNode[] {
  if (approvals.length === 0) return [h("h1", {}, "Approvals"), h("p", { class: "dim" }, "There are none.")];
  return [
    h("h1", {}, "Approvals"),
    h(
      "ul",
      { class: "cards", label: "Approvals" },
      approvals.map((approval) =>
        h(
          "li",
          { class: "card" },
          h("header", {}, h("p", { class: "text message" }, approval.message), badge(approval.status)),
          h("p", { class: "dim" }, originOf(approval), " · ", whenOf(approval, now)),
          h(
            "div",
            { class: "buttons" },
            h("button", { class: "plain", action: { show: approval.id } }, "Evidence and plan"),
            decideButton(approval),
          ),
        ),
      ),
    ),
  ];
}

export function approvalNodes(approval: Approval, now: number): ViewNode[] {
  const { workflow_id: workflow, message, status, plan } = approval;
  return [
    h("header", {}, h("h1", {}, `Approval for ${workflow ?? "a single step"}`), badge(status)),
    h("p", { class: "text message" }, message),
    h("p", { class: "dim" }, originOf(approval), " · ", whenOf(approval, now)),
    ...evidenceNodes(approval),
    ...(plan === undefined ? [] : planNodes(plan)),
    ...(status === "pending" ? deciderNodes(approval) : outcomeNodes(approval, status)),
    h("div", { class: "buttons" }, decideButton(approval)),
    ...(status === "pending"
      ? [h("p", { class: "dim" }, "A person decides in the web interface, after signing in.")]
      : []),
  ];
}

const badge = (status: ApprovalStatus): ViewNode =>
  h("span", { role: "status", class: `badge ${APPROVAL_COLORS[status]}` }, status);

const originOf = ({ run_id: run, step_id: step, item }: Approval): string =>
  [item === undefined ? step : `${step}, item ${item}`, run].join(" · ");

function whenOf(
  { status, created_at: created, expires_at: expires, decided_at: decided }: Approval,
  now: number,
): string {
  const relative = (at: string): string => formatRelativeTime(Date.parse(at), now);
  if (status !== "pending") return decided === null ? `requested ${relative(created)}` : relative(decided);
  return `requested ${relative(created)} · ${expires === null ? "never expires" : `expires ${relative(expires)}`}`;
}

const decideButton = ({ id, status }: Approval): ViewNode =>
  status === "pending"
    ? pageButton("Decide in Millrace", `/approvals/${encodeURIComponent(id)}`, "primary")
    : pageButton("Open in Millrace", `/approvals/${encodeURIComponent(id)}`);

function evidenceNodes({ evidence = {} }: Approval): ViewNode[] {
  const entries = Object.entries(evidence);
  if (entries.length === 0) return [];
  return [
    h(
      "section",
      {},
      h("h2", {}, "Evidence"),
      entries.map(([name, value]) => h("div", {}, h("h3", {}, name), valueNodes(value, `Evidence: ${name}`))),
    ),
  ];
}

function planNodes({ changed, workflows }: NonNullable<Approval["plan"]>): ViewNode[] {
  const shown = workflows.filter(isShown);
  return [
    h(
      "section",
      {},
      h("h2", {}, "What can run after the decision"),
      changed && h("p", { class: "notice" }, h("strong", {}, `${PLAN_CHANGED.title}. `), PLAN_CHANGED.text),
      shown.length === 0 && h("p", {}, "Nothing else runs."),
      shown.flatMap(workflowNodes),
    ),
  ];
}

function workflowNodes({
  workflow_id: id,
  version,
  role,
  patched,
  foreign,
  on_failure: onFailure,
  steps,
}: PlannedWorkflow): ViewNode[] {
  const source = version === null ? "does not exist" : `version ${version}`;
  const name = id === null ? "A single step" : `${id}, ${source}`;
  return [
    h("p", {}, `${name}${patched === true ? ", with a changed definition" : ""}: ${ROLE_TEXTS[role]}`),
    foreign === true && h("p", { class: "dim" }, "Another project owns it and vouches for what it does."),
    steps.length > 0 &&
      h(
        "ul",
        { class: "plan", label: `Steps of ${id ?? "a single step"}` },
        steps.map((step) =>
          h(
            "li",
            {},
            h("strong", {}, stepPrefix(step), h("code", {}, step.id)),
            ` (${step.type}): ${step.effect}`,
            step.if !== undefined && h("span", { class: "dim" }, `, if ${step.if}`),
          ),
        ),
      ),
    onFailure !== undefined && h("p", {}, "If it fails, ", h("code", {}, onFailure), " runs."),
  ].filter((node) => node !== false);
}

function deciderNodes(approval: Approval): ViewNode[] {
  const { escalates = [], decide_by_link: byLink } = approval;
  return [
    h(
      "section",
      {},
      h("h2", {}, "Who decides"),
      h("p", {}, whoDecides(approval)),
      isShared(approval) && h("p", {}, `${progressText(approval)}.`),
      decisionsNode(approval),
      escalates.map(({ at, to }) =>
        h("p", {}, "Escalates to ", assigneeNames(to), " at ", h("time", { at }, at), "."),
      ),
      byLink === true && h("p", {}, "The link in the mail to each assignee decides without an account."),
    ),
  ];
}

function outcomeNodes(approval: Approval, status: Exclude<ApprovalStatus, "pending">): ViewNode[] {
  const { decided_by: by, decided_via: via, comment, answer } = approval;
  return [
    h(
      "section",
      {},
      h("h2", {}, OUTCOME_TITLES[status]),
      by !== null && h("p", {}, `By ${byText(by, via)}.`),
      comment !== null && h("p", { class: "text" }, `“${comment}”`),
      isShared(approval) && decisionsNode(approval),
      answer !== null && [h("h3", {}, "Form answers"), ...valueNodes(answer, "Form answers")],
    ),
  ];
}

function decisionsNode({ decisions = [] }: Approval): ViewNode | null {
  if (decisions.length === 0) return null;
  return h(
    "ul",
    { label: "Decisions so far" },
    decisions.map(({ by, approved, comment, outdated }) =>
      h(
        "li",
        {},
        h("strong", {}, by),
        ` ${approved ? "approved" : "declined"}`,
        outdated === true && ", for a plan that has changed since: it doesn't count",
        comment !== null && `: “${comment}”`,
      ),
    ),
  );
}
