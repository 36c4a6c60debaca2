/** The decision of the current user: the form, or why they can't decide. */
import { Alert, Stack } from "@mantine/core";
import { useId } from "react";
import type { Approval } from "../../../schemas/approval.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { DecisionButtons } from "./decision-buttons.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { Delegate } from "./delegate.tsx";
import { assigneeNames } from "./progress.ts";
import { whoDecides } from "./texts.ts";

export function Decision({ approval }: { approval: Approval }) {
  const refusal = useRefusal(approval);
  const id = useId();
  const { you, assignees } = approval;
  if (refusal !== null)
    return (
      <Stack gap="sm">
        <Alert color="gray" title="You can't decide this" role="note" style={{ overflowWrap: "anywhere" }}>
          <span id={id}>{refusal}</span>
        </Alert>
        <DecisionButtons
          approval={approval}
          pending={null}
          disabledBy={id}
          approve={nothing}
          decline={nothing}
        />
      </Stack>
    );
  return (
    <Stack>
      {you?.for !== undefined && (
        <Alert color="blue" title={`You decide in the place of ${you.for}`} role="note">
          It counts as the decision of one person. {you.for} can&apos;t decide it as well then.
        </Alert>
      )}
      {you?.override === true && (
        <Alert color="yellow" title="It isn't assigned to you" role="note">
          As an admin you can decide in place of {assigneeNames(assignees)}. Your override is recorded, and
          counts as the decision of one person.
        </Alert>
      )}
      <DecisionForm approval={approval} />
      {you?.assigned === true && <Delegate approval={approval} />}
    </Stack>
  );
}

const nothing = (): void => undefined;

/** Why the current user can't decide; null if they can. */
export function useRefusal(approval: Approval): string | null {
  const hasScope = useHasScopeIn(approval);
  const { you } = approval;
  if (!hasScope("approve")) return whoDecides(approval);
  return you?.can_decide === false ? (you.reason ?? "") : null;
}
