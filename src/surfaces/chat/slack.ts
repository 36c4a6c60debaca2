/**
 * `POST /interactions/slack`: what members press under the messages about approvals. Slack signs each request; the member stands for
 * the account with the member's mail address, and must be allowed to decide like anyone else. Being in the channel is no permission.
 */
import { type Request, type Response, raw } from "express";
import { decideApproval } from "../../../tools/approvals/decide-approval.ts";
import type { CallContext } from "../../core/connections.ts";
import { SECOND } from "../../core/clock.ts";
import { AppError, toAppError } from "../../core/errors.ts";
import { checkSignature } from "../../core/webhook-signatures/index.ts";
import { mayDecideIn, principalOfWay } from "../decide/link-caller.ts";
import { invoke, type Services } from "../invoke.ts";
import type { BodyMemory } from "../body-memory.ts";
import { customerOf, networkLimit } from "../network-limit.ts";
import { readWith } from "../rest/body.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";
import { type ButtonPress, readPress } from "./slack-press.ts";

/** Maximum size of an interaction, in bytes: it repeats the message. */
const MAX_BODY = "256kb";
/** Maximum number of requests from one network in a minute, on this process. */
const PER_MINUTE = 600;
/** How long a request is kept open, in milliseconds: Slack shows an error after three seconds. */
const ANSWER_MS = 2 * SECOND;
/** How long the work of an interaction may take, in milliseconds. */
const WORK_MS = 30 * SECOND;

/** Reads the body as bytes, because they are signed. */
const readBytes = raw({ type: () => true, limit: MAX_BODY });

export function slackInteractions(
  services: Services,
  signIn: Pick<SignInServices, "sessions">,
  bodies: BodyMemory,
): (req: Request, res: Response) => Promise<void> {
  const assertBelowLimit = networkLimit(PER_MINUTE, "interactions");
  const { chats } = services.engine.configured;

  /** The chats whose app has signed the request. */
  function signers({ headers, body }: Request): string[] {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const now = services.clock.now();
    return chats
      .list()
      .filter(({ name }) => {
        const secrets = chats.signingSecrets(name);
        return (
          secrets.length > 0 &&
          checkSignature({ scheme: "slack" }, { headers, body: bytes, secrets, now }).valid
        );
      })
      .map(({ name }) => name);
  }

  return async (req, res) => {
    res.setHeader("Cache-Control", "no-store");
    const address = clientAddressOf(req);
    assertBelowLimit(address);
    bodies.reserve(req, res, customerOf(address));
    await readWith(readBytes, req, res);
    const names = signers(req);
    if (names.length === 0)
      throw new AppError(
        "unauthorized",
        "This request is not signed by a Slack app of the configuration, or it was signed more than five minutes ago.",
      );
    const press = readPress(req.body as Buffer);
    // Links and other elements send interactions too; they decide nothing.
    if (press === undefined) return void res.status(200).end();
    res.locals["observed"] = true;
    const requestId = res.locals["requestId"] as string;
    const work = answerPress(press, names, requestId).catch((err: unknown) =>
      services.log.warn(
        { err, request_id: requestId, approval_id: press.approvalId },
        "slack interaction failed",
      ),
    );
    await Promise.race([work, new Promise((resolve) => setTimeout(resolve, ANSWER_MS).unref())]);
    res.status(200).end();
  };

  /** Decides, and tells the member alone why not. The message itself is updated by the job that follows the decision. */
  async function answerPress(
    press: ButtonPress,
    signedBy: readonly string[],
    requestId: string,
  ): Promise<void> {
    const approval = await services.read.approvals.find(press.approvalId);
    const name = signedBy.find((candidate) => approval?.delivery.chat.includes(candidate));
    const call: CallContext = { owner: "chat", signal: AbortSignal.timeout(WORK_MS) };
    const answer = (text: string): Promise<void> =>
      chats.respond(name ?? signedBy[0]!, press.responseUrl, text, call);
    if (approval === undefined || name === undefined)
      return answer("This approval does not exist any more, or was not posted to this channel.");
    const email = await chats.memberEmail(name, press.member, call);
    const permission =
      email === null ? "no" : await mayDecideIn(services, signIn.sessions, email, approval.project);
    if (email === null || permission !== "yes")
      return answer(
        `You can't decide this: ${email ?? "your member"} is no account that may decide here. Ask an admin of Millrace.`,
      );
    const { team, id } = press.member;
    const principal = principalOfWay(email, approval.project, "Slack", { via: "slack", team, member: id });
    try {
      await invoke(
        services,
        decideApproval,
        { approval_id: approval.id, decision: press.decision, plan_digest: press.planDigest },
        {
          actor: { principal, client: { surface: "web", name: "Slack" } },
          requestId,
          signal: call.signal,
        },
      );
    } catch (thrown) {
      const { message } = toAppError(thrown);
      await answer(`Nothing was decided. ${message}`);
    }
  }
}
