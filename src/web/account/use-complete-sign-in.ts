/** What follows when somebody has come in: the session is known, nothing of anybody before is. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { SessionInfo } from "../../../schemas/user.ts";
import { sessionQuery, notifyOtherTabs } from "../app/session.tsx";

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
