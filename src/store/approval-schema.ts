/** The rows of approvals: what was asked, decided and sent. */
import type { Generated } from "kysely";
import type { ApprovalEventKind } from "../../schemas/approval-rules.ts";
import type { ApprovalStatus } from "../../schemas/run-status.ts";
import type { MessageChannel } from "../core/approval-delivery-ports.ts";

export interface ApprovalRow {
  id: string;
  run_id: string;
  /** That of its run. */
  workflow_id: string | null;
  step_id: string;
  item: number;
  status: ApprovalStatus;
  message: string;
  form: string | null;
  assignees: string;
  created_at: string;
  expires_at: string | null;
  decided_at: string | null;
  decided_by: string | null;
  comment: string | null;
  answer: string | null;
  /** The digests of what can run after it, as a JSON list; null when an older release asked it. */
  plan: string | null;
  /** `ApprovalRules` as JSON; null where one decision ends it, and nothing happens meanwhile. */
  rules: string | null;
  /** The values to decide on, as JSON; null for none. */
  evidence: string | null;
  /** How people are asked, as JSON (core/model.ts); null as an older release asked them. */
  delivery: string | null;
  /** `link` or `slack`; null when it was decided over the API or in the interface. */
  decided_via: "link" | "slack" | null;
}

/** What one person decided. Only decisions for the plan that holds at the end count. */
interface ApprovalDecisionRow {
  approval_id: string;
  plan_digest: string;
  /** The usage subject of the person (usage-limits.ts). */
  person: string;
  /** The assignee in whose place the person decided: each place is taken once. */
  seat: string;
  run_id: string;
  name: string;
  approved: number;
  override: number;
  comment: string | null;
  answer: string | null;
  decided_at: string;
}

/** What happened to an approval before its end. */
interface ApprovalEventRow {
  approval_id: string;
  seq: number;
  run_id: string;
  kind: ApprovalEventKind;
  at: string;
  by: string | null;
  /** Whom it was given to, as a JSON list of addresses and roles. */
  assignees: string;
  note: string | null;
  /** Whether those whom it concerns have been notified. */
  notified: number;
  /** 0 where no mail server was configured then. */
  had_mail_server: Generated<number>;
}

interface ApprovalLinkRow {
  /** SHA-256 of the token. */
  digest: Buffer;
  approval_id: string;
  recipient: string;
  plan_digest: string;
  created_at: string;
  used_at: string | null;
}

interface ApprovalMessageRow {
  approval_id: string;
  channel: MessageChannel;
  recipient: string;
  at: string;
  status: "sent" | "closed" | "refused";
  reference: string | null;
}

export interface ApprovalSchema {
  approvals: ApprovalRow;
  approval_decisions: ApprovalDecisionRow;
  approval_events: ApprovalEventRow;
  approval_links: ApprovalLinkRow;
  /** The browsers that have opened a link, by a digest of address and browser. */
  approval_link_visits: { digest: Buffer; visitor: string; address: string; client: string; at: string };
  approval_messages: ApprovalMessageRow;
}
