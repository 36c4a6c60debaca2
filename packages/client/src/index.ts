/** A typed client of the Millrace API, for Node 20 and newer and for browsers. It has no dependencies. */
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { type RunEvent, runEvents, waitForRun } from "./run-events.ts";
import { type ClientOptions, fetchResponse, readResponse } from "./send.ts";
import type {
  ApiResponse,
  Arguments,
  Item,
  ListPath,
  Method,
  Path,
  RequestOptions,
  SuccessBody,
  UntypedOptions,
} from "./types.ts";

export { MillraceError } from "./error.ts";
export type { EndpointByMethod, Schemas } from "../../../schemas/generated/endpoints.ts";
export type { ApiResponse, ClientOptions, ListPath, Path, RequestOptions, RunEvent };

/** Sends a request with one method. */
type Send<M extends Method> = <P extends Path<M>>(
  path: P,
  ...options: Arguments<RequestOptions<M, P>>
) => Promise<ApiResponse<SuccessBody<M, P>>>;

/** All methods throw a {@link MillraceError}, or the reason of their signal when it is aborted. */
export interface MillraceClient {
  get: Send<"get">;
  post: Send<"post">;
  put: Send<"put">;
  patch: Send<"patch">;
  delete: Send<"delete">;
  /** The same, where the method is a value. */
  request<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    ...options: Arguments<RequestOptions<M, P>>
  ): Promise<ApiResponse<SuccessBody<M, P>>>;
  /** The same without types, for programs that read the routes elsewhere. */
  requestUntyped(method: Method, path: string, options?: UntypedOptions): Promise<ApiResponse<unknown>>;
  /** Yields every item of a list. It reads one page after the other, so a list of any length needs little memory. */
  list<P extends ListPath>(
    path: P,
    options?: Omit<RequestOptions<"get", P>, "body">,
  ): AsyncGenerator<Item<P>>;
  /** Yields the changes of a run until it has ended. */
  runEvents(runId: string, options?: { signal?: AbortSignal | undefined }): AsyncGenerator<RunEvent>;
  /**
   * Waits until a run has ended, and returns it, whether it succeeded or not. A run can wait for an approval for days:
   * give a signal, such as `AbortSignal.timeout(60_000)`.
   */
  waitForRun(runId: string, options?: { signal?: AbortSignal | undefined }): Promise<Schemas.Run>;
}

/** Items of a page of `list`, the largest number that the server returns. */
const PAGE_ITEMS = 200;

/**
 * Creates a client.
 * @throws TypeError when the URL is no http or https URL
 */
export function createClient(options: ClientOptions = {}): MillraceClient {
  if (options.url !== undefined && !/^https?:$/.test(new URL(options.url).protocol))
    throw new TypeError(`The URL of a Millrace server begins with http:// or https://, got ${options.url}.`);
  const requestUntyped: MillraceClient["requestUntyped"] = async (method, path, request = {}) =>
    readResponse(await fetchResponse(options, method, path, request));
  const request = requestUntyped as MillraceClient["request"];
  return {
    get: (path, ...parameters) => request("get", path, ...parameters),
    post: (path, ...parameters) => request("post", path, ...parameters),
    put: (path, ...parameters) => request("put", path, ...parameters),
    patch: (path, ...parameters) => request("patch", path, ...parameters),
    delete: (path, ...parameters) => request("delete", path, ...parameters),
    request,
    requestUntyped,
    async *list(path, parameters) {
      const given = (parameters ?? {}) as UntypedOptions;
      for (let cursor: string | undefined; ;) {
        const query = { ...given.query, limit: PAGE_ITEMS, cursor };
        const { data, next } = await requestUntyped("get", path, { ...given, query });
        yield* data as Item<typeof path>[];
        if (next === null) return;
        cursor = next;
      }
    },
    runEvents: (runId, { signal } = {}) => runEvents(options, runId, signal),
    waitForRun: (runId, { signal } = {}) => waitForRun(options, runId, signal),
  };
}
