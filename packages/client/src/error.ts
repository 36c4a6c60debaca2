/** The error of every request that did not succeed. */
import type { Schemas } from "../../../schemas/generated/endpoints.ts";

type Problem = Schemas.Problem;

/** Problem details (RFC 9457) that the server answered with, or the reason why there is no answer (status 0). */
export class MillraceError extends Error {
  override readonly name = "MillraceError";
  readonly problem: Problem;
  /** Value of `Retry-After`, in seconds; undefined if the server sent none. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number, cause?: unknown) {
    super(problem.detail, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  /** The HTTP status; 0 if the server can't be reached. */
  get status(): number {
    return this.problem.status;
  }

  /** The stable code, such as `workflow_not_found`; `unreachable`, `redirected` or `unreadable_response` without problem details. */
  get code(): string {
    return this.problem.code;
  }

  /** All issues of an input that the server refused. */
  get issues(): readonly Schemas.Issue[] {
    return this.problem.errors ?? [];
  }
}

const withoutAnswer = (
  code: string,
  title: string,
  detail: string,
  { status = 0, cause }: { status?: number; cause?: unknown } = {},
): MillraceError =>
  new MillraceError({ type: "about:blank", title, status, detail, code, request_id: "" }, undefined, cause);

export const unreachable = (cause: unknown): MillraceError =>
  withoutAnswer(
    "unreachable",
    "The server can't be reached",
    "The server can't be reached. Check your connection and try again. Nothing was lost.",
    { cause },
  );

/** @param location where the server redirects to; null in a browser, which hides it */
export const redirected = (status: number, location: string | null): MillraceError =>
  withoutAnswer(
    "redirected",
    "The server redirects to another address",
    `The server redirects${location === null ? "" : ` to ${location}`}, and the key is not sent there. ` +
      "Set the URL of the client to the final address.",
    { status },
  );

/** A response that is not one of Millrace. */
export const unreadable = (status: number): MillraceError =>
  withoutAnswer(
    "unreadable_response",
    "Unreadable response",
    `A proxy between this program and Millrace, or another server, answered with status ${status}. Try again.`,
    { status },
  );

/** Reads the error of a response. */
export async function errorOf(response: Response): Promise<MillraceError> {
  const retryAfter = Number(response.headers.get("Retry-After"));
  const problem = (await response.json().catch(() => undefined)) as Problem | null | undefined;
  if (typeof problem?.code !== "string" || typeof problem.detail !== "string")
    return unreadable(response.status);
  return new MillraceError(problem, Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined);
}
