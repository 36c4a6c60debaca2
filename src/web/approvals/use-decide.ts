/** Sends the decision of the current user. */
import { useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { send } from "../api/client.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { progressText } from "./progress.ts";

export type Choice = "approve" | "decline";

/**
 * @param approval with the plan that the user sees: the decision is for it, not for one that has replaced it
 * @param written returns what the user has filled in
 */
export function useDecide(
  { id, plan, you }: Approval,
  { written, onError }: { written: (choice: Choice) => object; onError?: (error: Error) => void },
) {
  const client = useQueryClient();
  const idempotencyHeaderFor = useIdempotencyHeader();
  return useSingleFlightMutation({
    mutationFn: (decision: Choice) => {
      const body = {
        decision,
        ...(plan !== undefined && { plan_digest: plan.digest }),
        ...(you?.override === true && { override: true }),
        ...written(decision),
      };
      return send("post", "/approvals/{approval_id}", {
        path: { approval_id: id },
        body,
        header: idempotencyHeaderFor(body),
      });
    },
    onSuccess: ({ data }, decision) => notifySuccess(outcomeText(data, decision)),
    onError: (error) => onError?.(error),
    // Also after an error: another user may have decided first.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["approvals"] }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]),
  });
}

const outcomeText = (approval: Approval, choice: Choice): string =>
  approval.status === "pending"
    ? texts.doneSoFar({ choice, progress: progressText(approval) })
    : texts.done({ choice });
