/** TanStack Query over `send`. Query keys begin with the resource, so that a mutation can invalidate its queries. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import type { Connection } from "../app/connection.ts";
import { ApiError } from "./client.ts";

/** A client error (4xx) stays the same on a retry. */
const isPermanent = (error: Error): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500;

/** Statuses with which a proxy says that the server does not answer; 0 is a failed connection. */
const NO_ANSWER: ReadonlySet<number> = new Set([0, 502, 503, 504]);

const isUnanswered = (error: Error): boolean =>
  error instanceof ApiError &&
  NO_ANSWER.has(error.status) &&
  (error.code === "unreachable" || error.code === "unreadable_response");

/** Number of times that a query without an answer is sent again. It waits while the connection is lost. */
const MAX_UNANSWERED = 5;

interface ClientOptions {
  /** Called when the server no longer accepts the session: it expired or was ended elsewhere. */
  onSignedOut: () => void;
  /** Called when the user must set up a second factor first. */
  onFactorMissing: () => void;
  connection: Pick<Connection, "probe" | "reportAnswer">;
}

export function createQueryClient({ onSignedOut, onFactorMissing, connection }: ClientOptions): QueryClient {
  const onError = (error: Error): void => {
    if (!(error instanceof ApiError)) return;
    if (error.code === "unauthorized") onSignedOut();
    if (error.code === "second_factor_required") onFactorMissing();
    if (isUnanswered(error)) void connection.probe();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError, onSuccess: connection.reportAnswer }),
    mutationCache: new MutationCache({ onError, onSuccess: connection.reportAnswer }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (count, error) => {
          if (!isUnanswered(error)) return count < 2 && !isPermanent(error);
          void connection.probe();
          return count < MAX_UNANSWERED;
        },
        throwOnError: false,
      },
      // A change that waits until the server is back would surprise the person who made it: it fails, and says so.
      mutations: { networkMode: "always" },
    },
  });
}

/** A new `Idempotency-Key`: the server executes the request once, however often it arrives. */
export const idempotencyHeader = (): { "Idempotency-Key": string } => ({
  "Idempotency-Key": crypto.randomUUID(),
});
