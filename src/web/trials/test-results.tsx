/** What a test returned: its output or error, and the rows, values and errors of each step. */
import { Accordion, Alert, Anchor, Group, Loader, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import * as texts from "#texts/trials";
import type { Run, RunStep } from "../../../schemas/run.ts";
import { hasEnded } from "../runs/live-updates.ts";
import { fullValueLoader } from "../runs/queries.ts";
import { ErrorBox, ScrollableValue } from "../runs/section.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { ValueView } from "../values/value-view.tsx";
import type { DraftTests } from "./use-draft-tests.ts";

export function TestResults({ tests: { started, run, error } }: { tests: DraftTests }) {
  if (started === undefined) return null;
  if (run === undefined)
    return error === null ? <Loader size="sm" aria-label={texts.loading} /> : <ErrorAlert error={error} />;
  const { steps = [] } = run;
  const open = stepToShow(run, started.stepId);
  return (
    <Stack gap="sm" component="section" aria-label={texts.result}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" role="status">
          <Text size="sm" fw={600}>
            {started.stepId ?? texts.draft}
          </Text>
          <StatusBadge status={run.status} />
        </Group>
        <Anchor component={Link} to={`/runs/${run.id}`} size="sm">
          {texts.openRun}
        </Anchor>
      </Group>
      {run.error !== null && run.error.step_id === undefined && <ErrorBox error={run.error} />}
      {started.stepId === undefined && run.output !== undefined && run.output !== null && (
        <ScrollableValue label={texts.draftOutput}>
          <ValueView
            value={run.output}
            label={texts.draftOutput}
            loadFull={fullValueLoader(run.id, run.output)}
          />
        </ScrollableValue>
      )}
      {/* A new run opens its own step. */}
      <Accordion key={`${run.id} ${open ?? ""}`} defaultValue={open ?? null} variant="contained" order={2}>
        {steps.map((step) => (
          <Accordion.Item key={step.id} value={step.id}>
            <Accordion.Control>
              <Group gap="xs">
                <Text size="sm" ff="monospace" className="left-to-right">
                  {step.id}
                </Text>
                <StatusBadge status={step.status} />
                {step.given === true && (
                  <Text size="xs" c="dimmed">
                    {texts.notRun}
                  </Text>
                )}
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <StepResult run={run} step={step} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

/** The tested step; in the test of a draft the one that failed, else the last one with an output. */
function stepToShow(run: Run, tested: string | undefined): string | undefined {
  if (!hasEnded(run)) return undefined;
  const { steps = [] } = run;
  const failed = steps.find(({ status }) => status === "failed")?.id;
  return failed ?? tested ?? steps.findLast(({ output }) => output !== undefined)?.id;
}

function StepResult({ run, step }: { run: Run; step: RunStep }) {
  const input = step.attempt_list?.at(-1)?.input;
  if (step.error?.code === "not_given")
    return (
      <Stack gap="xs">
        <Alert color="yellow" title={texts.heldBack} role="note">
          {texts.heldBackHelp({ message: step.error.message })}
        </Alert>
        <Value run={run} value={input} label={texts.stepInput({ step: step.id })} />
      </Stack>
    );
  return (
    <Stack gap="xs">
      {step.error !== null && <ErrorBox error={step.error} />}
      {step.error !== null && input !== undefined && (
        <Value run={run} value={input} label={texts.stepInput({ step: step.id })} />
      )}
      {step.error === null && step.output === undefined ? (
        <Text size="sm" c="dimmed">
          {step.status === "skipped" ? texts.conditionFalse : texts.noOutput}
        </Text>
      ) : (
        step.output !== undefined && (
          <Value run={run} value={step.output} label={texts.stepOutput({ step: step.id })} />
        )
      )}
    </Stack>
  );
}

const Value = ({ run, value, label }: { run: Run; value: unknown; label: string }) => (
  <ScrollableValue label={label}>
    <ValueView value={value} label={label} loadFull={fullValueLoader(run.id, value)} />
  </ScrollableValue>
);
