/** Checks signatures with the secrets that a project may use: of triggers, and of events that runs wait for. */
import { type Signature, secretNames } from "../../../schemas/signature.ts";
import type { Clock } from "../../core/clock.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import { AppError } from "../../core/errors.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ReceivedEvent } from "../../core/event-path.ts";
import {
  bodyTimeRefusal,
  checkSignature,
  isOver,
  type SignedRequest,
} from "../../core/webhook-signatures/index.ts";

interface Options {
  views: ConnectionViews;
  clock: Clock;
}

/** What the definition says, and what the sender was given. */
interface Expected {
  project: string;
  signature: Signature;
  /** The URL without a query. */
  url(): Promise<string>;
}

/**
 * @returns the id that its headers give the delivery; null without one
 * @throws AppError signature_invalid, secret_unavailable; invalid_input for a form that can't be read
 */
export async function assertSigned(
  { views, clock }: Options,
  { project, signature, url }: Expected,
  request: SignedRequest,
): Promise<string | null> {
  const secrets = await secretsOf(views, project, signature);
  const signedUrl = isOver("url", signature) ? { url: `${await url()}${request.search ?? ""}` } : {};
  const result = checkSignature(signature, { ...request, ...signedUrl, secrets, now: clock.now() });
  if (result.valid) return result.deliveryId;
  if (result.reason === "unusable_secret") throw unavailable(result.message);
  throw new AppError("signature_invalid", result.message, { reason: result.reason });
}

/**
 * Checks the time that a signed body has, where the signature names it.
 * @throws AppError signature_invalid
 */
export function assertRecent(
  { clock }: Pick<Options, "clock">,
  signature: Signature | undefined,
  event: ReceivedEvent,
): void {
  const refusal = signature && bodyTimeRefusal(signature, event, clock.now());
  if (refusal?.valid === false)
    throw new AppError("signature_invalid", refusal.message, { reason: refusal.reason });
}

async function secretsOf(views: ConnectionViews, project: string, signature: Signature): Promise<string[]> {
  const { connections } = await views.of(project);
  try {
    return await connections.signatureSecrets(secretNames(signature));
  } catch (error) {
    if (error instanceof StepError)
      throw unavailable(`${error.message} ${error.options.fix ?? ""}`.trim(), error);
    throw error;
  }
}

/** The sender has done nothing wrong and may try again; who runs the instance must correct it. */
const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError("secret_unavailable", `The signature can't be checked now. ${message}`, {
    headers: { "Retry-After": "60" },
    cause,
  });
