/** The decision of the current user: the form, or why they can't decide. */
import { Alert, Stack } from "@mantine/core";
import { useId } from "react";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { DecisionButtons } from "./decision-buttons.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { Delegate } from "./delegate.tsx";
import { assigneeNames } from "./progress.ts";

export function Decision({ approval }: { approval: Approval }) {
  const refusal = useRefusal(approval);
  const id = useId();
  const { you, assignees } = approval;
  if (refusal !== null)
    return (
      <Stack gap="sm">
        <Alert color="gray" title={texts.refused} role="note" style={{ overflowWrap: "anywhere" }}>
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
        <Alert color="blue" title={texts.inPlaceOf({ person: you.for })} role="note">
          {texts.inPlaceHelp({ person: you.for })}
        </Alert>
      )}
      {you?.override === true && (
        <Alert color="yellow" title={texts.notAssigned} role="note">
          {texts.overrideHelp({ assignees: assigneeNames(assignees) })}
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
  const { you, assignees } = approval;
  if (!hasScope("approve"))
    return assignees.length === 0
      ? texts.whoDecides
      : texts.whoDecidesAssigned({ assignees: assigneeNames(assignees) });
  return you?.can_decide === false ? (you.reason ?? "") : null;
}
