/** Finding one approval. The API lists them by status and run, and gives none by its id. */
import { queryOptions } from "@tanstack/react-query";
import type { Approval, ApprovalStatus } from "../../../schemas/run.ts";
import { type Answered, send } from "../api/client.ts";

const AT_ONCE = 200;
/** So far back it is looked for where its run is not known. */
const MOST_PAGES = 10;

const DECIDED: readonly ApprovalStatus[] = ["approved", "declined", "expired", "cancelled"];

/**
 * @param runId where the link names it: then a look or two suffice
 * @returns null where there is none
 */
export const approvalQuery = (id: string, runId: string | undefined) =>
  queryOptions({
    queryKey: ["approvals", id, runId ?? null],
    queryFn: async ({ signal }): Promise<Approval | null> => {
      const among = (status: ApprovalStatus) => find(id, status, runId, signal);
      const pending = await among("pending");
      if (pending !== undefined) return pending;
      // Decided meanwhile, or long ago.
      return (await Promise.all(DECIDED.map(among))).find((found) => found !== undefined) ?? null;
    },
  });

async function find(
  id: string,
  status: ApprovalStatus,
  runId: string | undefined,
  signal: AbortSignal,
): Promise<Approval | undefined> {
  const ofRun = runId === undefined ? {} : { run_id: runId };
  let from: { cursor?: string } = {};
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { status, limit: AT_ONCE, ...ofRun, ...from };
    const { data, next }: Answered<Approval[]> = await send("get", "/approvals", { query, signal });
    const found = data.find((approval) => approval.id === id);
    if (found !== undefined || next === null) return found;
    from = { cursor: next };
  }
  return undefined;
}
