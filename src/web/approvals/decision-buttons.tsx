/** Approve and Decline. Declining is confirmed, because the run goes on with it. */
import { Button, Group } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import type { Approval } from "../../../schemas/approval.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { Id } from "../ui/id.tsx";
import { WorkflowName } from "../workflows/names.tsx";
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
        onClick={() => confirmDecline(approval, decline)}
      >
        Decline
      </Button>
    </Group>
  );
}

const confirmDecline = (approval: Approval, decline: () => void): void =>
  confirmAction({
    title: (
      <>
        Decline the approval <Id>{approval.step_id}</Id>?
      </>
    ),
    consequence: <DeclineText approval={approval} />,
    confirm: "Decline",
    onConfirm: decline,
  });

function DeclineText({ approval }: { approval: Approval }) {
  const { run_id: runId, workflow_id: workflow, required_declines: declines = 1 } = approval;
  const run = <Id>{runId}</Id>;
  return (
    <>
      {declines > 1 ? (
        <>
          {declines} people must decline before the run {run} continues as declined.
        </>
      ) : (
        <>
          The run {run} of {workflow === null ? "a single step" : <WorkflowName id={workflow} />} continues as
          declined.
        </>
      )}{" "}
      You can't change the decision later.
    </>
  );
}
