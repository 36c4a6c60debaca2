/** The steps as a list with a filter, where the graph can't be drawn. */
import { Box, Code, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import * as texts from "#texts/graph";
import { type GraphStep, matches } from "./steps.ts";
import { stepDetails } from "./step-label.ts";

interface StepListProps {
  steps: readonly GraphStep[];
  selected: string | undefined;
  onSelect: ((stepId: string) => void) | undefined;
}

export function StepList({ steps, selected, onSelect }: StepListProps) {
  const [filter, setFilter] = useState("");
  const found = steps.filter((step) => matches(step, filter));
  return (
    <>
      <TextInput
        label={texts.filterSteps}
        size="xs"
        mt="xs"
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      <Text size="xs" c="dimmed" role="status" my={4}>
        {found.length === steps.length
          ? texts.stepCount({ count: steps.length })
          : texts.foundSteps({ found: found.length, total: steps.length })}
      </Text>
      <Box
        component="ol"
        aria-label={texts.steps}
        tabIndex={0}
        m={0}
        p={0}
        mah={360}
        style={{ listStyle: "none", overflowY: "auto" }}
      >
        {found.map((step) => (
          <li key={step.id} style={{ contentVisibility: "auto", containIntrinsicSize: "auto 30px" }}>
            {onSelect === undefined ? (
              <Box px="xs" py={4}>
                <Item step={step} />
              </Box>
            ) : (
              <UnstyledButton
                w="100%"
                px="xs"
                py={4}
                aria-pressed={step.id === selected}
                {...(step.id === selected && { bg: "var(--mantine-color-default-hover)" })}
                onClick={() => onSelect(step.id)}
              >
                <Item step={step} />
              </UnstyledButton>
            )}
          </li>
        ))}
      </Box>
    </>
  );
}

function Item({ step }: { step: GraphStep }) {
  const { id, name = id } = step;
  return (
    <Text size="sm" component="span" style={{ overflowWrap: "anywhere" }}>
      <Code>{name}</Code>{" "}
      <Text span inherit c="dimmed">
        {stepDetails(step)}
      </Text>
    </Text>
  );
}
