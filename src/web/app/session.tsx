/** The current user and their scopes. Pages hide every action that needs a scope the user lacks. */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Scope } from "../../../schemas/actor.ts";
import type { SessionInfo } from "../../../schemas/user.ts";
import { ApiError, send } from "../api/client.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  // A 401 means that nobody is signed in, which is no error here.
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

/** Removes everything that the cache holds of the user, except the session query, which has active observers. */
export const purgeUserQueries = (client: QueryClient): void =>
  client.removeQueries({ predicate: ({ queryKey: [resource] }) => resource !== sessionQuery.queryKey[0] });

const sessionChannel = new BroadcastChannel("millrace-sessions");

/** Notifies the other tabs of a sign-in or sign-out. */
export function notifyOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel takes no target origin
  sessionChannel.postMessage("changed");
}

/** Calls the listener when another tab reports a sign-in or sign-out. */
export const subscribeToOtherTabs = (listener: () => void): void =>
  sessionChannel.addEventListener("message", listener);

export type SignOutTarget = "/sign-in" | "/logout";

/** Repeats the queries that failed while nobody was signed in. */
export const refetchFailedQueries = (client: QueryClient): void =>
  void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });

interface SessionContextValue {
  session: SessionInfo;
  /** Leaves the page without asking about unsaved input: to the sign-in page, or to the provider's sign-out. */
  signOutTo: (to: SignOutTarget) => void;
}

const SessionContext = createContext<SessionContextValue | undefined>(undefined);

export function SessionProvider({
  session,
  signOutTo,
  children,
}: SessionContextValue & { children: ReactNode }) {
  const value = useMemo(() => ({ session, signOutTo }), [session, signOutTo]);
  return <SessionContext value={value}>{children}</SessionContext>;
}

/** @returns the current session; throws outside of the authenticated layout */
export const useSession = (): SessionInfo => useSessionContext().session;

export const useSignOutTo = (): ((to: SignOutTarget) => void) => useSessionContext().signOutTo;

function useSessionContext(): SessionContextValue {
  const value = useContext(SessionContext);
  if (value === undefined) throw new Error("useSession must be used inside of SessionProvider");
  return value;
}

/** @returns a function that tells whether the current user has a scope */
export function useHasScope(): (scope: Scope) => boolean {
  const { user } = useSession();
  return (scope) => user.scopes.includes(scope);
}

export const useSessionQuery = () => useQuery(sessionQuery);
