/** TanStack Query over `send`. Query keys begin with the resource, so that a mutation can invalidate its queries. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

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
        retry: (count, error) => count < 2 && !isPermanent(error),
        throwOnError: false,
      },
    },
  });
}

/** A new `Idempotency-Key`: the server executes the request once, however often it arrives. */
export const idempotencyHeader = (): { "Idempotency-Key": string } => ({
  "Idempotency-Key": crypto.randomUUID(),
});
