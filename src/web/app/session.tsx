/** Who is signed in, and what that person may do. Pages offer nothing that `may` refuses. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext } from "react";
import type { Scope } from "../../../schemas/actor.ts";
import type { SessionInfo } from "../../../schemas/user.ts";
import { ApiError, send } from "../api/client.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  // Nobody signed in is an answer, not a failure.
  queryFn: async ({ signal, client, queryKey }): Promise<SessionInfo | null> => {
    const now = await whoIsSignedIn(signal);
    const before = client.getQueryData<SessionInfo | null>(queryKey);
    // Somebody else by now (another tab signed in): nothing that was shown to the one before is shown again.
    if (before !== undefined && before?.user.id !== now?.user.id)
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== "session" });
    return now;
  },
  staleTime: 60_000,
});

async function whoIsSignedIn(signal: AbortSignal): Promise<SessionInfo | null> {
  try {
    return (await send("get", "/session", { signal })).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

const tabs = new BroadcastChannel("millrace-sessions");

/** Tells the other tabs that somebody has come in or gone. */
export function tellOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin to go to
  tabs.postMessage("changed");
}

/** Calls back when another tab tells it. */
export const whenAnotherTabTells = (listener: () => void): void => tabs.addEventListener("message", listener);

const Signed = createContext<SessionInfo | undefined>(undefined);

export function SessionProvider({ session, children }: { session: SessionInfo; children: ReactNode }) {
  return <Signed value={session}>{children}</Signed>;
}

/** The session of who is signed in; only inside pages that need one. */
export function useSession(): SessionInfo {
  const session = useContext(Signed);
  if (session === undefined) throw new Error("useSession outside of a signed-in page");
  return session;
}

/** Whether the one who is signed in may do what needs this scope. */
export function useMay(): (scope: Scope) => boolean {
  const { user } = useSession();
  return (scope) => user.scopes.includes(scope);
}

export const useSessionQuery = () => useQuery(sessionQuery);
