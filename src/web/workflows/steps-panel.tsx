/** The graph of a workflow, with the definition of the selected step beside it. */
import { Box, Grid, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import * as texts from "#texts/workflows";
import { toText } from "../editor/format.ts";
import { startDefinition, withStarts } from "../graph/starts.ts";
import { graphSteps } from "../graph/steps.ts";
import { Snippet } from "../ui/copy.tsx";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { EmptyState, LoadingSkeleton } from "../ui/page.tsx";
import { StartsLine } from "./starts-line.tsx";

const StepGraph = lazy(() => import("../graph/step-graph.tsx"));

/** Maximum height of the definition, in pixels. */
const MAX_HEIGHT = 480;

export function StepsPanel({ definition }: { definition: Record<string, unknown> | null }) {
  const steps = useMemo(() => graphSteps(definition), [definition]);
  const nodes = useMemo(() => withStarts(steps, definition), [steps, definition]);
  const [selected, setSelected] = useState<string>();
  const step =
    stepOf(
      definition,
      steps.findIndex(({ id }) => id === selected),
    ) ?? (selected === undefined ? undefined : startDefinition(selected, definition));
  if (steps.length === 0) {
    return <EmptyState title={texts.noSteps}>{texts.noStepsHelp}</EmptyState>;
  }
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: step === undefined ? 12 : 7 }}>
        <StartsLine definition={definition} />
        <ErrorBoundary message={texts.graphFailed} resetKey={nodes}>
          <Suspense fallback={<LoadingSkeleton rows={6} />}>
            <StepGraph steps={nodes} onSelect={setSelected} {...(selected !== undefined && { selected })} />
          </Suspense>
        </ErrorBoundary>
        {step === undefined && (
          <Text size="sm" c="dimmed" mt={4}>
            {texts.selectStep}
          </Text>
        )}
      </Grid.Col>
      {step !== undefined && (
        <Grid.Col span={{ base: 12, md: 5 }}>
          <StepText step={step} />
        </Grid.Col>
      )}
    </Grid>
  );
}

type Step = Record<string, unknown>;

/** The step at an index of the graph, which draws every step that is an object. */
function stepOf(definition: Record<string, unknown> | null, index: number): Step | undefined {
  const steps = definition?.["steps"];
  if (!Array.isArray(steps)) return undefined;
  return steps.filter(
    (step): step is Step => typeof step === "object" && step !== null && !Array.isArray(step),
  )[index];
}

function StepText({ step }: { step: Step }) {
  const text = useQuery({
    queryKey: ["step-text", step],
    queryFn: () => toText(step, "yaml"),
    staleTime: Infinity,
    gcTime: 0,
  });
  const { id, type, description } = step;
  const isStart = "schedule" in step || "triggers" in step;
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap="xs" align="baseline">
        <Title order={2} size="h5">
          {typeof id === "string" ? id : isStart ? texts.starts : texts.step}
        </Title>
        <Text size="sm" c="dimmed">
          {typeof type === "string" ? type : ""}
        </Text>
      </Group>
      {typeof description === "string" && <Text size="sm">{description}</Text>}
      {text.data !== undefined && (
        <Box mah={MAX_HEIGHT} style={{ overflowY: "auto" }}>
          <Snippet text={text.data.trimEnd()} label={texts.definitionOfStep({ id: String(id) })} />
        </Box>
      )}
    </Stack>
  );
}
