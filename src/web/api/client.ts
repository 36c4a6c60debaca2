/** The client of the REST API, with types from the generated OpenAPI document. Pages use no other way to the server. */
import { serverPath } from "../app/base-path.ts";
import { connection, PROXY_FAILURES } from "./connection.ts";
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";
import type { Problem } from "../../../schemas/problem.ts";
import { detailForPeople, issueForPeople } from "./api-words.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Endpoints<M extends Method> = EndpointByMethod[M];
type Parameters<E> = E extends { parameters: infer P } ? ([P] extends [never] ? unknown : P) : unknown;
type SuccessStatus = 200 | 201 | 202 | 204;
type SuccessBody<E> = E extends { responses: infer R } ? R[SuccessStatus & keyof R] : unknown;

/** The parameters of an operation, and an optional abort signal. */
type RequestOptions<E> = Omit<Parameters<E>, "header"> & {
  header?: Parameters<E> extends { header?: infer H } ? H : never;
  signal?: AbortSignal;
};

/** An error response as problem details (RFC 9457), with its message and issues in words for people, or a failed connection (status 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: Problem;
  /** Value of `Retry-After`, in seconds; undefined if the server sent none. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number) {
    super(detailForPeople(problem));
    this.problem = { ...problem, ...(problem.errors && { errors: problem.errors.map(issueForPeople) }) };
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }
}

/** A successful response: its body and the headers that pages need. */
export interface ApiResponse<T> {
  data: T;
  /** The revision, to send as `If-Match`. */
  etag: string | null;
  /** Number of items in the whole list, as far as it was counted; null if the response is no list. */
  total: number | null;
  /** Whether there are more than `total`. */
  isTotalCapped: boolean;
  /** Cursor of the next page; null on the last page. */
  next: string | null;
}

/** Whether the server can't be reached, or the proxy before it says so. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === "unreachable" ||
    (error.code === "unreadable_response" && PROXY_FAILURES.has(error.status)));

/**
 * Sends a request. While the server can't be reached, one that changes something is refused at once: it must not happen later.
 * @throws ApiError for every error response, and with status 0 if the server cannot be reached
 */
export async function send<M extends Method, P extends keyof Endpoints<M> & string>(
  method: M,
  path: P,
  options: RequestOptions<Endpoints<M>[P]>,
): Promise<ApiResponse<SuccessBody<Endpoints<M>[P]>>> {
  const {
    path: parameters,
    query,
    body,
    header,
    signal,
  } = options as {
    path?: Record<string, string>;
    query?: Record<string, unknown>;
    body?: unknown;
    header?: Record<string, string>;
    signal?: AbortSignal;
  };
  if (method !== "get" && connection.getState().status === "unreachable") {
    connection.check();
    throw new ApiError(UNREACHABLE);
  }
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters?.[name])));
  const response = await fetch(serverPath(url) + queryString(query), {
    method: method.toUpperCase(),
    headers: {
      Accept: "application/json",
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...header,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    connection.reportFailure();
    throw new ApiError(UNREACHABLE);
  });
  if (!response.ok) {
    const error = await toApiError(response);
    if (isUnreachable(error)) connection.reportFailure();
    else connection.reportContact();
    throw error;
  }
  connection.reportContact();
  const { headers } = response;
  const total = headers.get("X-Total-Count");
  // A 202 may have an empty body, and a 204 always has.
  const text = await response.text();
  return {
    data: (text === "" ? undefined : JSON.parse(text)) as SuccessBody<Endpoints<M>[P]>,
    etag: headers.get("ETag"),
    total: total === null ? null : Number(total),
    isTotalCapped: headers.get("X-Total-Count-Capped") === "true",
    next: nextCursor(headers.get("Link")),
  };
}

/** Encodes lists as one comma-separated value, as the server expects them. */
function queryString(query: Record<string, unknown> = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (entries.length === 0) return "";
  return `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()}`;
}

const nextCursor = (link: string | null): string | null => {
  const next = /<([^>]+)>; rel="next"/.exec(link ?? "")?.[1];
  return next === undefined ? null : new URL(next, location.href).searchParams.get("cursor");
};

const UNREACHABLE: Problem = {
  type: "about:blank",
  title: "The server can't be reached",
  status: 0,
  detail: "The server can't be reached. Check your connection and try again. Nothing was lost.",
  code: "unreachable",
  request_id: "",
};

async function toApiError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get("Retry-After"));
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  return new ApiError(
    problem?.code === undefined
      ? {
          ...UNREACHABLE,
          status: response.status,
          code: "unreadable_response",
          title: "Unreadable response",
          detail: `A proxy between your browser and Millrace answered with status ${response.status}. Try again.`,
        }
      : problem,
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
  );
}
