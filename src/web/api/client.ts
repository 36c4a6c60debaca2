/** The client of the REST API, with types from the generated OpenAPI document. Pages use no other way to the server. */
import { createClient } from "../../../packages/client/src/index.ts";

export { MillraceError as ApiError } from "../../../packages/client/src/index.ts";
export type { ApiResponse } from "../../../packages/client/src/index.ts";

/**
 * Sends a request with the session of the signed-in user.
 * @throws ApiError for every error response, and with status 0 if the server cannot be reached
 */
// The queries of the pages are repeated by TanStack Query.
export const { request: send } = createClient({ retries: 0 });
