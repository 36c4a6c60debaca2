/** Approve and Decline. Declining is confirmed, because the run goes on with it. */
import { Button, Group } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import * as texts from "#texts/approvals";
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
        {texts.approve}
      </Button>
      <Button
        {...shared}
        variant="default"
        leftSection={<IconX size={iconSize} aria-hidden />}
        loading={pending === "decline"}
        onClick={() =>
          confirmAction({
            title: texts.confirmDecline({ step: approval.step_id }),
            consequence: declineText(approval),
            confirm: texts.decline,
            onConfirm: decline,
          })
        }
      >
        {texts.decline}
      </Button>
    </Group>
  );
}

function declineText({ run_id: run, workflow_id: workflow, required_declines: count = 1 }: Approval): string {
  if (count > 1) return texts.declineOfSeveral({ count, run });
  return workflow === null ? texts.declineStep({ run }) : texts.declineWorkflow({ run, workflow });
}
