/**
 * The page of the links in mails that decide an approval (`/decide/<token>`). Programs that check mails open every link, so GET
 * never decides: it shows the evidence, and a form whose POST decides.
 */
import { raw, type Request, type Response, Router } from "express";
import { decideApproval } from "../../../tools/approvals/decide-approval.ts";
import { type DecisionPreview, previewDecision } from "./preview.ts";
import { rejectCrossSiteRequest } from "../../auth/csrf.ts";
import { AppError, ERRORS } from "../../core/errors.ts";
import { type Call, invoke, type Services } from "../invoke.ts";
import { fromExpressError, readWith } from "../rest/body.ts";
import { groupFields, parseForm } from "../rest/form-fields.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { networkLimit } from "../network-limit.ts";
import { clientAddressOf } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";
import { formValues } from "./form.ts";
import { findLink, type FoundLink, linkCall, recordVisit } from "./link-caller.ts";
import { sendDecisionPage, sendNotice } from "./page.ts";

const FORM = "application/x-www-form-urlencoded";
/** Maximum size of a form, in bytes. */
const MAX_FORM = "64kb";

/** Maximum number of requests from one network in a minute, on this process. */
const PER_MINUTE = 120;

type LinkRequest = Request<{ token: string }>;

export function decisionPages(services: Services, signIn: SignInServices): Router {
  const router = Router({ caseSensitive: true });
  const assertBelowLimit = networkLimit(PER_MINUTE, "requests");
  const read = raw({ limit: MAX_FORM, type: FORM });
  router
    .route("/:token")
    // Before GET, which would answer it too: nothing is looked up for a program that only asks whether there is a page.
    .head((_req, res) => sendNotice(res, 200, "Approval", ""))
    .get(page(show))
    .post(page(decide))
    .all(rejectOtherMethods(["GET", "HEAD", "POST"]));
  return router;

  /** Finds the link, and answers with a page whatever happens. */
  function page(answer: (req: LinkRequest, res: Response, found: FoundLink, call: Call) => Promise<void>) {
    return async (req: LinkRequest, res: Response): Promise<void> => {
      res.locals["observed"] = true;
      try {
        rejectCrossSiteRequest(req.method, req.headers, signIn.origins);
        assertBelowLimit(clientAddressOf(req));
        const found = await findLink(services, req.params.token);
        const call = found && (await linkCall(services, signIn, req, found));
        // Only guesses count in all processes: people behind one address may have many links.
        if (found === undefined) await signIn.throttle.consume("decide", { address: clientAddressOf(req) });
        if (found === undefined || call === undefined) throw dead();
        await answer(req, res, found, call);
      } catch (thrown) {
        const error = fromExpressError(thrown);
        const request = { request_id: res.locals["requestId"] as string, ip: req.ip, code: error.code };
        const level = ERRORS[error.code].log;
        services.log[level]({ ...request, ...(level !== "info" && { err: error }) }, "decision link refused");
        for (const [name, value] of Object.entries(error.details.headers ?? {})) res.setHeader(name, value);
        if (!req.readableEnded && req.method === "POST") res.setHeader("Connection", "close");
        sendNotice(res, error.status, ERRORS[error.code].title, error.message);
      }
    };
  }

  async function show(_req: LinkRequest, res: Response, found: FoundLink, call: Call): Promise<void> {
    const preview = await previewOf(found, call);
    const refusal = refusalOf(found, preview);
    if (refusal === undefined) await recordVisit(services, found, call);
    await send(res, found, preview, refusal);
  }

  async function decide(req: LinkRequest, res: Response, found: FoundLink, call: Call): Promise<void> {
    const preview = await previewOf(found, call);
    const refusal = refusalOf(found, preview);
    if (refusal !== undefined) return send(res, found, preview, refusal);
    await readWith(read, req as Request, res);
    const sent: unknown = req.body;
    const body = groupFields(
      Buffer.isBuffer(sent) ? parseForm(sent, req.headers["content-type"] ?? FORM) : [],
    );
    const { decision, comment, plan_digest: digest } = body;
    if ((decision !== "approve" && decision !== "decline") || typeof digest !== "string")
      return send(res, found, preview, undefined, "Choose Approve or Decline.");
    const input = {
      approval_id: found.approval.id,
      decision,
      plan_digest: digest,
      ...(typeof comment === "string" &&
        comment.trim() !== "" && { comment: comment.replaceAll("\r\n", "\n") }),
      ...(decision === "approve" &&
        found.approval.form !== null && { form: formValues(found.approval.form, body) }),
    };
    // A browser on the second visit decides without having opened the page first.
    await recordVisit(services, found, call);
    try {
      await invoke(services, decideApproval, input, call);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "invalid_input") throw error;
      const issues = (error.details.errors ?? []).map(({ path, message }) => `${path} ${message}.`);
      return send(res, found, preview, undefined, ["Nothing was decided.", ...issues].join(" "));
    }
    const done = decision === "approve" ? "approved" : "declined";
    sendNotice(
      res,
      200,
      decision === "approve" ? "Approved" : "Declined",
      `Your decision is recorded: ${found.link.recipient} ${done} ${found.approval.id}. The run goes on. You can close this page.`,
    );
  }

  async function previewOf({ approval }: FoundLink, call: Call): Promise<DecisionPreview> {
    return (await invoke(services, previewDecision, { approval_id: approval.id }, call)) as DecisionPreview;
  }

  async function send(
    res: Response,
    { link, approval }: FoundLink,
    preview: DecisionPreview,
    refusal: { title: string; text: string; status: number } | undefined,
    error?: string,
  ): Promise<void> {
    const pageUrl = await services.accounts.pageUrl(`/approvals/${approval.id}`);
    if (refusal !== undefined) return sendNotice(res, refusal.status, refusal.title, refusal.text, pageUrl);
    const mask = services.engine.configured.maskSecrets;
    sendDecisionPage(res, preview, {
      recipient: link.recipient,
      pageUrl,
      mask,
      ...(error !== undefined && { error }),
    });
  }
}

/** Why a link does not decide; undefined if it does. */
function refusalOf(
  { link }: FoundLink,
  { approval, remaining, planChanged, refusal }: DecisionPreview,
): { title: string; text: string; status: number } | undefined {
  if (!approval.delivery.byLink) return { ...DEAD, text: dead().message };
  if (approval.status === "pending" && link.usedAt !== null)
    return {
      title: "This link was used",
      text: "You have decided with this link. It works once.",
      status: 410,
    };
  if (refusal !== null) {
    const title = refusal.code === "approval_not_yours" ? "You can't decide this" : "This approval has ended";
    return { title, text: refusal.message, status: refusal.status };
  }
  if (planChanged || remaining.digest !== link.planDigest)
    return {
      title: "The plan has changed",
      text: "What can run after the approval is not what the mail showed any more, so this link decides nothing. Sign in to see it and to decide.",
      status: 409,
    };
  return undefined;
}

const DEAD = { title: "The link is no longer valid", status: 410 };

/** The same for every token that does not work, so that nobody learns which exist. */
const dead = (): AppError =>
  new AppError(
    "link_expired",
    "This link does not decide anything, or no longer does. Sign in to see what waits for you.",
  );
