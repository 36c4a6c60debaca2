/** TanStack Query over `send`. Query keys begin with the resource, so that a mutation can invalidate its queries. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError, isUnreachable } from "./client.ts";
import { connection } from "./connection.ts";

/** A client error (4xx) stays the same on a retry. */
const isPermanent = (error: Error): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500;

/** @param onSignedOut called when the server no longer accepts the session: it expired or was ended elsewhere */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof ApiError && error.code === "unauthorized") onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A retry waits until the server can be reached again.
        retry: (count, error) =>
          isUnreachable(error) && connection.getState().status === "unreachable"
            ? true
            : count < 2 && !isPermanent(error),
        throwOnError: false,
      },
      // Otherwise a mutation would wait for the server, and happen minutes later.
      mutations: { networkMode: "always" },
    },
  });
}

/** A new `Idempotency-Key`: the server executes the request once, however often it arrives. */
export const idempotencyHeader = (): { "Idempotency-Key": string } => ({
  "Idempotency-Key": crypto.randomUUID(),
});
