/** Why a run failed, at the top of its page: the step, the reason, the values of its condition, and the way to its details. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/runs";
import { strong } from "../ui/message-tags.tsx";
import { Condition } from "./condition.tsx";
import { describeFailure } from "./failure.ts";
import type { LiveRun } from "./live-updates.ts";

/** The id of the element of the shown step, to which the page scrolls. */
export const STEP_PANEL_ID = "shown-step";

export function FailingStep({ run }: { run: LiveRun }) {
  const [, setParams] = useSearchParams();
  const failure = describeFailure(run);
  if (failure === undefined) return null;
  const { error, failed_step: step } = run;
  const show = (): void => {
    setParams(
      (before) => {
        before.set("step", step!.id);
        if (step!.item === undefined) before.delete("item");
        else before.set("item", String(step!.item));
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
    requestAnimationFrame(() => document.getElementById(STEP_PANEL_ID)?.scrollIntoView({ block: "start" }));
  };
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={step === undefined ? texts.runFailed : texts.failedAt({ step: step.id, type: step.type })}
      role="note"
    >
      <Stack gap="xs">
        <Text style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
          {texts.summaryAndFix({ ...failure, strong })}
        </Text>
        {error !== null && <Condition error={error} />}
        {step !== undefined && (
          <Group>
            <Button size="xs" variant="default" onClick={show}>
              {texts.showInputAndAttempts}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
