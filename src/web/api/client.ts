/** The one way to the server: the REST API, typed by its own OpenAPI document. */
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";
import type { Problem } from "../../../schemas/problem.ts";

type Method = "get" | "post" | "patch" | "delete";
type Endpoints<M extends Method> = EndpointByMethod[M];
type Parameters<E> = E extends { parameters: infer P } ? ([P] extends [never] ? unknown : P) : unknown;
type Successes = 200 | 201 | 202 | 204;
type Answer<E> = E extends { responses: infer R } ? R[Successes & keyof R] : unknown;

/** What a request can be given: what its operation takes, and the signal of who asks. */
type Given<E> = Omit<Parameters<E>, "header"> & {
  header?: Parameters<E> extends { header?: infer H } ? H : never;
  signal?: AbortSignal;
};

/** What the server answered when it refused: problem details (RFC 9457), or that it could not be reached. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: Problem;
  /** Seconds, where the server said when to ask again. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }
}

/** An answer with what its headers say. */
export interface ApiResponse<T> {
  data: T;
  /** The revision, for If-Match. */
  etag: string | null;
  /** Of a list: how many there are in all. */
  total: number | null;
  /** Of a page: the cursor of the next one. */
  next: string | null;
}

/**
 * Sends a request.
 * @throws ApiError for every answer that is no success, and where there was none (status 0)
 */
export async function send<M extends Method, P extends keyof Endpoints<M> & string>(
  method: M,
  path: P,
  given: Given<Endpoints<M>[P]>,
): Promise<ApiResponse<Answer<Endpoints<M>[P]>>> {
  const {
    path: parameters,
    query,
    body,
    header,
    signal,
  } = given as {
    path?: Record<string, string>;
    query?: Record<string, unknown>;
    body?: unknown;
    header?: Record<string, string>;
    signal?: AbortSignal;
  };
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters?.[name])));
  const response = await fetch(url + queryOf(query), {
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
    throw new ApiError(UNREACHABLE);
  });
  if (!response.ok) throw await refusal(response);
  const { headers } = response;
  const total = headers.get("X-Total-Count");
  // A 202 may have nothing to say, as a 204 has.
  const text = await response.text();
  return {
    data: (text === "" ? undefined : JSON.parse(text)) as Answer<Endpoints<M>[P]>,
    etag: headers.get("ETag"),
    total: total === null ? null : Number(total),
    next: cursorOf(headers.get("Link")),
  };
}

/** As the server reads lists in a query: one value with commas. */
function queryOf(query: Record<string, unknown> = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (entries.length === 0) return "";
  return `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()}`;
}

const cursorOf = (link: string | null): string | null => {
  const next = /<([^>]+)>; rel="next"/.exec(link ?? "")?.[1];
  return next === undefined ? null : new URL(next, location.href).searchParams.get("cursor");
};

const UNREACHABLE: Problem = {
  type: "about:blank",
  title: "The server can't be reached",
  status: 0,
  detail: "The server can't be reached. Check the connection; nothing was lost, try again.",
  code: "unreachable",
  request_id: "",
};

async function refusal(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get("Retry-After"));
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  return new ApiError(
    problem?.code === undefined
      ? {
          ...UNREACHABLE,
          status: response.status,
          code: "bad_answer",
          title: "An answer that can't be read",
          detail: `Something between here and Millrace answered ${response.status}. Try again.`,
        }
      : problem,
    Number.isFinite(after) && after > 0 ? after : undefined,
  );
}
