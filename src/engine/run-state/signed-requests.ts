/** Checks signatures with the secrets that a project may use: of triggers, and of events that runs wait for. */
import { createHmac } from "node:crypto";
import { type Signature, secretNames } from "../../../schemas/signature.ts";
import type { Clock } from "../../core/clock.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import { AppError } from "../../core/errors.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ReceivedEvent } from "../../core/event-path.ts";
import {
  bodyTimeRefusal,
  checkSignature,
  isEqual,
  isOver,
  keyOf,
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
  expected: Expected,
  request: SignedRequest,
): Promise<string | null> {
  const secrets = await secretsOf(views, expected.project, expected.signature);
  const signed = await withUrl(expected, request);
  const result = checkSignature(expected.signature, { ...signed, secrets, now: clock.now() });
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

/** Adds the URL to a request where the signature is over it. */
const withUrl = async ({ signature, url }: Expected, request: SignedRequest) =>
  isOver("url", signature) ? { ...request, url: `${await url()}${request.search ?? ""}` } : request;

/**
 * Signs a text with the secret that a request is signed with. Without that, the answer would be a signature for anything that
 * anybody asks for.
 * @returns HMAC-SHA256, hexadecimal
 * @throws AppError signature_invalid, secret_unavailable
 */
export async function signChallenge(
  { views, clock }: Options,
  expected: Expected,
  request: SignedRequest,
  text: string,
): Promise<string> {
  const secrets = await secretsOf(views, expected.project, expected.signature);
  const signed = await withUrl(expected, request);
  const used = secrets.find(
    (secret) => checkSignature(expected.signature, { ...signed, secrets: [secret], now: clock.now() }).valid,
  );
  if (used === undefined) throw notSigned();
  return createHmac("sha256", keyOf(used, expected.signature)!).update(text).digest("hex");
}

/**
 * Signs a token with the first secret of a signature, the one that replaces the others during a rotation.
 * @returns HMAC-SHA256, base64
 * @throws AppError secret_unavailable
 */
export async function signToken(
  { views }: Pick<Options, "views">,
  { project, signature }: Pick<Expected, "project" | "signature">,
  token: string,
): Promise<string> {
  const [secret] = await secretsOf(views, project, signature);
  const key = secret === undefined ? undefined : keyOf(secret, signature);
  if (key === undefined) throw unavailable("Its first secret can't be used.");
  return createHmac("sha256", key).update(token).digest("base64");
}

/** A trigger that has no signature has nothing to sign a challenge with. */
export const notSigned = (): AppError =>
  new AppError("signature_invalid", "The request is not signed with a secret of this trigger. Sign it.");

/** Compares a text with a secret. White space around the secret does not count. @throws AppError secret_unavailable */
export async function isSecret(
  { views }: Pick<Options, "views">,
  { project, secret }: { project: string; secret: string },
  text: string,
): Promise<boolean> {
  const [value] = await secretsOf(views, project, { secret });
  return value !== undefined && value.trim() !== "" && isEqual(text, value.trim());
}

async function secretsOf(
  views: ConnectionViews,
  project: string,
  signature: Pick<Signature, "secret">,
): Promise<string[]> {
  const { connections } = await views.of(project);
  try {
    return await connections.signatureSecrets(secretNames(signature));
  } catch (error) {
    if (error instanceof StepError)
      // The sender is a stranger: names of secrets and variables are for the log.
      throw unavailable("No secret of it has a value. Ask who operates this server.", error);
    throw error;
  }
}

/** The sender has done nothing wrong and may try again; who runs the instance must correct it. */
const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError("secret_unavailable", `The signature can't be checked now. ${message}`, {
    headers: { "Retry-After": "60" },
    cause,
  });
