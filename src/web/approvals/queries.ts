import { queryOptions } from "@tanstack/react-query";
import type { Approval } from "../../../schemas/approval.ts";
import { ApiError, send } from "../api/client.ts";

/** The query of one approval. Its data is null if no approval has this id. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["approvals", "one", id],
    queryFn: async ({ signal }): Promise<Approval | null> => {
      try {
        return (await send("get", "/approvals/{approval_id}", { path: { approval_id: id }, signal })).data;
      } catch (error) {
        if (error instanceof ApiError && error.code === "approval_not_found") return null;
        throw error;
      }
    },
  });
