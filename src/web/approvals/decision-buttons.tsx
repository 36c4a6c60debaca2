/** Approve and Decline. Declining is confirmed, because the run goes on with it. */
import { Button, Group } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import type { Approval } from "../../../schemas/approval.ts";
import { confirmAction } from "../ui/confirm.tsx";
import type { Choice } from "./use-decide.ts";

interface Props {
  approval: Approval;
  /** The decision that is being sent. */
  pending: Choice | null;
  /** The id of the text that says why the user can't decide. */
  disabledBy?: string | undefined;
  /** Left out, Approve submits the form around it. */
  approve?: () => void;
  decline: () => void;
  size?: "xs" | "sm";
}

export function DecisionButtons({ approval, pending, disabledBy, approve, decline, size = "sm" }: Props) {
  const shared = {
    size,
    disabled: disabledBy !== undefined || pending !== null,
    ...(disabledBy !== undefined && { "aria-describedby": disabledBy }),
  };
  const iconSize = size === "xs" ? 14 : 16;
  return (
    <Group gap="xs">
      <Button
        {...shared}
        {...(approve === undefined ? { type: "submit" as const } : { onClick: approve })}
        leftSection={<IconCheck size={iconSize} aria-hidden />}
        loading={pending === "approve"}
      >
        Approve
      </Button>
      <Button
        {...shared}
        variant="default"
        leftSection={<IconX size={iconSize} aria-hidden />}
        loading={pending === "decline"}
        onClick={() =>
          confirmAction({
            title: `Decline the approval "${approval.step_id}"?`,
            consequence: declineText(approval),
            confirm: "Decline",
            onConfirm: decline,
          })
        }
      >
        Decline
      </Button>
    </Group>
  );
}

function declineText({
  run_id: runId,
  workflow_id: workflow,
  required_declines: declines = 1,
}: Approval): string {
  const final = "You can't change the decision later.";
  return declines > 1
    ? `${declines} people must decline before the run ${runId} continues as declined. ${final}`
    : `The run ${runId} of ${workflow ?? "a single step"} continues as declined. ${final}`;
}
