/** Who is signed in, and what that person may do. Pages offer nothing that `may` refuses. */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Scope } from "../../../schemas/actor.ts";
import type { SessionInfo } from "../../../schemas/user.ts";
import { ApiError, send } from "../api/client.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  // Nobody signed in is an answer, not a failure.
  queryFn: async ({ signal }): Promise<SessionInfo | null> => {
    try {
      return (await send("get", "/session", { signal })).data;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Nothing of who was here stays. The session itself does: what watches it would not see it go. */
export const purgeUserQueries = (client: QueryClient): void =>
  client.removeQueries({ predicate: ({ queryKey: [noun] }) => noun !== sessionQuery.queryKey[0] });

const tabs = new BroadcastChannel("millrace-sessions");

/** Tells the other tabs that somebody has come in or gone. */
export function notifyOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin to go to
  tabs.postMessage("changed");
}

/** Calls back when another tab tells it. */
export const subscribeToOtherTabs = (listener: () => void): void =>
  tabs.addEventListener("message", listener);

export type SignOutTarget = "/sign-in" | "/logout";

/** What was refused while nobody was signed in is asked again. */
export const refetchFailedQueries = (client: QueryClient): void =>
  void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });

interface SessionContextValue {
  session: SessionInfo;
  /** To the page for signing in, or out over the identity provider's, whatever is on the page: the person wants it. */
  signOutTo: (to: SignOutTarget) => void;
}

const SessionContext = createContext<SessionContextValue | undefined>(undefined);

export function SessionProvider({
  session,
  signOutTo,
  children,
}: SessionContextValue & { children: ReactNode }) {
  const signedIn = useMemo(() => ({ session, signOutTo }), [session, signOutTo]);
  return <SessionContext value={signedIn}>{children}</SessionContext>;
}

/** The session of who is signed in; only inside pages that need one. */
export const useSession = (): SessionInfo => useSessionContext().session;

export const useSignOutTo = (): ((to: SignOutTarget) => void) => useSessionContext().signOutTo;

function useSessionContext(): SessionContextValue {
  const signedIn = useContext(SessionContext);
  if (signedIn === undefined) throw new Error("useSession outside of a signed-in page");
  return signedIn;
}

/** Whether the one who is signed in may do what needs this scope. */
export function useHasScope(): (scope: Scope) => boolean {
  const { user } = useSession();
  return (scope) => user.scopes.includes(scope);
}

export const useSessionQuery = () => useQuery(sessionQuery);
