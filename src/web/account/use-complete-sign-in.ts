import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { sessionQuery, notifyOtherTabs } from "../app/session.tsx";

/**
 * @returns a function that stores the new session, clears what the cache holds of the previous user, notifies the other
 *   tabs and opens `to`
 */
export function useCompleteSignIn(to: string): (session: SessionInfo) => void {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (session) => {
    client.clear();
    client.setQueryData(sessionQuery.queryKey, session);
    notifyOtherTabs();
    void navigate(to, { replace: true });
  };
}
