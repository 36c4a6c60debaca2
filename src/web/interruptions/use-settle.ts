/** Sends what the current user says of an interruption. */
import { useQueryClient } from "@tanstack/react-query";
import type { Interruption, InterruptionOutcome } from "../../../schemas/interruption.ts";
import { send } from "../api/client.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { notifySuccess } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

interface Answer {
  outcome: InterruptionOutcome;
  output?: Record<string, unknown>;
  comment?: string;
}

export function useSettle({ id, waiting }: Interruption) {
  const client = useQueryClient();
  const headerFor = useIdempotencyHeader();
  return useSingleFlightMutation({
    mutationFn: (body: Answer) =>
      send("post", "/interruptions/{interruption_id}/settle", {
        path: { interruption_id: id },
        body,
        header: headerFor(body),
      }),
    onSuccess: () => notifySuccess(waiting ? "Answer saved. The run continues." : "Answer saved."),
    // Also after an error: another user may have answered first.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["interruptions"] }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]),
  });
}
