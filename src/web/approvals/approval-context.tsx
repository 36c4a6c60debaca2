/** The data to decide on: the run's inputs, and the outputs of the steps that the approval depends on. */
import { Accordion, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import type { Run, RunStep } from "../../../schemas/run.ts";
import { graphSteps } from "../graph/steps.ts";
import { Section } from "../runs/section.tsx";
import { definitionQuery, runQuery, stepQuery, fullValueLoader } from "../runs/queries.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { ValueView } from "../values/value-view.tsx";
import { ancestorIds } from "./ancestors.ts";

export function ApprovalContext({ approval }: { approval: Approval }) {
  const run = useQuery(runQuery(approval.run_id));
  return (
    <Section title={texts.contextTitle} order={2}>
      <QueryContent query={run} skeleton={<LoadingSkeleton rows={3} />}>
        {(loaded) => <ContextValues run={loaded} approval={approval} />}
      </QueryContent>
    </Section>
  );
}

function ContextValues({ run, approval }: { run: Run; approval: Approval }) {
  const { step_id: stepId, evidence, status } = approval;
  // Without evidence, a person decides on the inputs, so they are open.
  const [open, setOpen] = useState<string[]>(
    status === "pending" && evidence === undefined ? ["inputs"] : [],
  );
  const definition = useQuery(definitionQuery(run.id));
  const hasDefinition = definition.data !== undefined;
  const ancestors = new Set(ancestorIds(graphSteps(definition.data ?? null), stepId));
  const steps = (run.steps ?? []).filter(
    ({ id, status: stepStatus }) =>
      (hasDefinition ? ancestors.has(id) : id !== stepId) && stepStatus === "succeeded",
  );
  return (
    <Accordion variant="separated" multiple value={open} onChange={setOpen} order={3}>
      <Accordion.Item value="inputs">
        <Accordion.Control>{texts.runInputs}</Accordion.Control>
        <Accordion.Panel>
          <ValueView
            value={run.inputs}
            label={texts.runInputs}
            loadFull={fullValueLoader(run.id, run.inputs)}
          />
        </Accordion.Panel>
      </Accordion.Item>
      {steps.map((step) => (
        <Accordion.Item key={step.id} value={`step-${step.id}`}>
          <Accordion.Control>
            <Group gap="sm">
              <Text size="sm">{step.id}</Text>
              <Text size="xs" c="dimmed">
                {step.type}
              </Text>
              <StatusBadge status={step.status} />
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            {open.includes(`step-${step.id}`) && <StepOutput runId={run.id} step={step} />}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

/** Loads the output only when the item is opened, since a run can have many steps. */
function StepOutput({ runId, step }: { runId: string; step: RunStep }) {
  const query = useQuery(stepQuery(runId, step.id, undefined, step.status));
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
      {({ output }) => (
        <ValueView
          value={output}
          label={texts.outputOf({ step: step.id })}
          loadFull={fullValueLoader(runId, output)}
        />
      )}
    </QueryContent>
  );
}
