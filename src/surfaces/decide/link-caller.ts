/** Who a link that decides stands for. The token in the path is the permission: no key, session or cookie counts. */
import type { Request } from "express";
import type { Scope } from "../../../schemas/actor.ts";
import { digestOf } from "../../auth/key-format.ts";
import { browserName } from "../../auth/sessions.ts";
import { type Access, scopesIn } from "../../core/access.ts";
import type { ApprovalLinkRecord } from "../../core/approval-delivery-ports.ts";
import { iso } from "../../core/clock.ts";
import type { ApprovalRecord } from "../../core/model.ts";
import type { DecisionWay, Principal } from "../../core/ports.ts";
import { userAgentName } from "../client-name.ts";
import { isNamedStranger } from "../../core/written-assignees.ts";
import type { Call, Services } from "../invoke.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";

const TOKEN = /^[0-9A-Za-z]{32}$/;
const SCOPES: ReadonlySet<Scope> = new Set(["read", "approve"]);

/** A link that exists, with the approval that it is for. */
export interface FoundLink {
  digest: Buffer;
  link: ApprovalLinkRecord;
  approval: ApprovalRecord;
}

/** @returns undefined for a token that is not one of ours, or whose run was purged */
export async function findLink(
  { read }: Pick<Services, "read">,
  token: string,
): Promise<FoundLink | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const digest = digestOf(token);
  const link = await read.approvalLinks.find(digest);
  const approval = link && (await read.approvals.find(link.approvalId));
  return approval && { digest, link, approval };
}

/**
 * Whether an address may decide without signing in: that of nobody who has an account, or of somebody whose account may
 * decide in the project.
 */
export async function mayDecideIn(
  { read }: Pick<Services, "read">,
  sessions: Pick<SignInServices["sessions"], "accessOf">,
  email: string,
  project: string,
): Promise<"yes" | "no" | "stranger"> {
  const user = await read.users.findByEmail(email);
  if (user === undefined) return "stranger";
  if (user.status === "deactivated") return "no";
  return scopesIn(await sessions.accessOf(user), project).has("approve") ? "yes" : "no";
}

/** The caller of a request with a link: its recipient, who may do nothing but decide in this project. */
export function principalOfWay(
  recipient: string,
  project: string,
  keyName: string,
  decides: DecisionWay,
): Principal {
  const access: Access = { everywhere: null, projects: new Map([[project, SCOPES]]), keyLimits: null };
  return {
    kind: "key",
    keyId: decides.via,
    keyName,
    owner: recipient,
    scopes: SCOPES,
    access,
    lineage: `${decides.via}:${recipient}`,
    decides,
  };
}

/** Whether a link decides: that of a person who may decide with the account, or of an address that the definition names. */
async function isLinkValid(
  services: Services,
  { sessions }: Pick<SignInServices, "sessions">,
  { link: { recipient }, approval }: FoundLink,
): Promise<boolean> {
  const permission = await mayDecideIn(services, sessions, recipient, approval.project);
  if (permission !== "stranger") return permission === "yes";
  const run = await services.read.runs.find(approval.runId);
  if (run === undefined) return false;
  const { steps } = await services.engine.getDefinition(run);
  const step = steps.find(({ id }) => id === approval.stepId);
  return isNamedStranger(run, step, recipient);
}

/**
 * A request with a link, as the log and the audit log record it.
 * @returns undefined where the link decides nothing any more
 */
export async function linkCall(
  services: Services,
  signIn: Pick<SignInServices, "sessions">,
  req: Request,
  found: FoundLink,
): Promise<Call | undefined> {
  const { digest, link, approval } = found;
  if (!(await isLinkValid(services, signIn, found))) return undefined;
  const visitors = (await services.read.approvalLinks.visits(digest)).length;
  const way: DecisionWay = { via: "link", digest, address: clientAddressOf(req), visitors };
  return {
    actor: {
      principal: principalOfWay(link.recipient, approval.project, "decision link", way),
      client: { surface: "web", name: browserName(userAgentName(req.headers["user-agent"])) },
    },
    requestId: req.res!.locals["requestId"] as string,
    signal: new AbortController().signal,
    status: () => req.res!.statusCode,
  };
}

/** Records that a browser has opened a link, in the audit log too: a second one shows that the mail was forwarded. */
export async function recordVisit(
  services: Pick<Services, "write" | "clock">,
  { digest, link, approval }: FoundLink,
  call: Call,
): Promise<void> {
  const way = call.actor.principal.decides as Extract<DecisionWay, { via: "link" }>;
  const { actor, requestId } = call;
  await services.write({ operation: "open_decision_link", actor, requestId }, async (tx) => {
    const visit = { address: way.address, client: actor.client.name, at: iso(services.clock.now()) };
    if (!(await tx.approvalLinks.addVisit(digest, visit))) return;
    const number = (await tx.approvalLinks.visits(digest)).length;
    way.visitors = number;
    await tx.recordAudit(approval.id, number === 1 ? undefined : "again", {
      details: { link_sent_to: link.recipient, address: way.address, opened_by: number },
    });
  });
}
