/** How pages ask and change: TanStack Query over `send`. Keys begin with the noun, so that a change can refresh it. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

/** Not worth asking again: the server said what is wrong. */
const isFinal = (error: Error): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500;

/** @param onSignedOut what to do when the server knows nobody any more: the session was ended elsewhere, or is too old */
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
        retry: (count, error) => count < 2 && !isFinal(error),
        throwOnError: false,
      },
    },
  });
}

/** A header that lets the server carry a change out once, however often it arrives (contract: Idempotency-Key). */
export const idempotencyHeader = (): { "Idempotency-Key": string } => ({
  "Idempotency-Key": crypto.randomUUID(),
});
