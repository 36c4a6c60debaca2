/** How the interruptions of a step were answered, one line each. */
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { LiveRun } from "../runs/live-updates.ts";
import { Section } from "../runs/section.tsx";
import { answeredInterruptionsQuery } from "./queries.ts";
import { AnswerLine } from "./answer-line.tsx";

interface StepInterruptionsProps {
  run: LiveRun;
  stepId: string;
  /** Left out for all items. */
  item: number | undefined;
  /** Changes whenever the step does. */
  revision: string;
}

/** Nothing where there are none. */
export function StepInterruptions({ run, stepId, item, revision }: StepInterruptionsProps) {
  const { data = [] } = useQuery(
    answeredInterruptionsQuery(run.id, `${revision} ${run.open_interruptions ?? 0}`),
  );
  const answered = data.filter(
    (interruption) => interruption.step_id === stepId && (item === undefined || interruption.item === item),
  );
  if (answered.length === 0) return null;
  return (
    <Section title="Interruptions">
      <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: "none" }}>
        {answered.map((interruption) => (
          <Text key={interruption.id} component="li" size="sm" style={{ overflowWrap: "anywhere" }}>
            {item === undefined && interruption.item !== undefined
              ? `Item ${interruption.item}, attempt`
              : "Attempt"}{" "}
            {interruption.attempt}: <AnswerLine interruption={interruption} />
          </Text>
        ))}
      </Stack>
    </Section>
  );
}
