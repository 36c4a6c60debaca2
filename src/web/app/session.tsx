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
export const forget = (client: QueryClient): void =>
  client.removeQueries({ predicate: ({ queryKey: [noun] }) => noun !== sessionQuery.queryKey[0] });

const tabs = new BroadcastChannel("millrace-sessions");

/** Tells the other tabs that somebody has come in or gone. */
export function tellOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin to go to
  tabs.postMessage("changed");
}

/** Calls back when another tab tells it. */
export const whenAnotherTabTells = (listener: () => void): void => tabs.addEventListener("message", listener);

export type Exit = "/sign-in" | "/logout";

/** What was refused while nobody was signed in is asked again. */
export const refetchRefused = (client: QueryClient): void =>
  void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });

interface SignedIn {
  session: SessionInfo;
  /** To the page for signing in, or out over the identity provider's, whatever is on the page: the person wants it. */
  leave: (to: Exit) => void;
}

const Signed = createContext<SignedIn | undefined>(undefined);

export function SessionProvider({ session, leave, children }: SignedIn & { children: ReactNode }) {
  const signedIn = useMemo(() => ({ session, leave }), [session, leave]);
  return <Signed value={signedIn}>{children}</Signed>;
}

/** The session of who is signed in; only inside pages that need one. */
export const useSession = (): SessionInfo => useSignedIn().session;

export const useLeave = (): ((to: Exit) => void) => useSignedIn().leave;

function useSignedIn(): SignedIn {
  const signedIn = useContext(Signed);
  if (signedIn === undefined) throw new Error("useSession outside of a signed-in page");
  return signedIn;
}

/** Whether the one who is signed in may do what needs this scope. */
export function useMay(): (scope: Scope) => boolean {
  const { user } = useSession();
  return (scope) => user.scopes.includes(scope);
}

export const useSessionQuery = () => useQuery(sessionQuery);
