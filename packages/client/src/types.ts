/** Types of requests and responses, derived from the generated types of the OpenAPI document. */
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";
type Endpoints<M extends Method> = EndpointByMethod[M];
/** A path of the OpenAPI document, with its parameters in braces. */
export type Path<M extends Method> = keyof Endpoints<M> & string;
type Parameters<E> = E extends { parameters: infer P } ? ([P] extends [never] ? unknown : P) : unknown;
type SuccessStatus = 200 | 201 | 202 | 204;

/** The body of a successful response. */
export type SuccessBody<M extends Method, P extends Path<M>> = Endpoints<M>[P] extends { responses: infer R }
  ? R[SuccessStatus & keyof R]
  : unknown;

/** What every request can have besides its parameters. */
interface CommonOptions {
  signal?: AbortSignal | undefined;
  /** The server executes requests with the same key once within 24 hours, and answers the others with the first result. */
  idempotencyKey?: string | undefined;
}

/** What can be left out, because all of it is optional. */
type Optional<T> = { [K in keyof T as object extends T[K] ? K : never]?: T[K] } & {
  [K in keyof T as object extends T[K] ? never : K]: T[K];
};

/** The parameters of an operation (`path`, `query`, `header`, `body`), and what every request can have. */
export type RequestOptions<M extends Method, P extends Path<M>> = Optional<
  Omit<Parameters<Endpoints<M>[P]>, "header">
> & {
  header?: Parameters<Endpoints<M>[P]> extends { header?: infer H } ? H : never;
} & CommonOptions;

/** The options of a request as an argument, which can be left out if nothing is required. */
export type Arguments<O> = object extends O ? [options?: O] : [options: O];

/** The parameters of an operation without their types, for programs that read the routes elsewhere. */
export interface UntypedOptions extends CommonOptions {
  path?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  header?: Readonly<Record<string, string>> | undefined;
  body?: unknown;
}

/** A path whose response is a list in pages. */
export type ListPath = {
  [P in Path<"get">]: Parameters<Endpoints<"get">[P]> extends { query?: { cursor?: string } } ? P : never;
}[Path<"get">];

/** An item of a list. */
export type Item<P extends ListPath> =
  SuccessBody<"get", P> extends readonly (infer I)[] ? I : SuccessBody<"get", P>;

/** A successful response: its body, and the headers that callers need. */
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
