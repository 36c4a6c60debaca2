/** The values of a run: its inputs, its output, and the state of the workflow. */
import { Accordion, SimpleGrid } from "@mantine/core";
import { ValueView } from "../values/value-view.tsx";
import type { LiveRun } from "./live-updates.ts";
import { fullValueLoader } from "./queries.ts";
import { ScrollableValue, Section } from "./section.tsx";

interface NamedValue {
  title: string;
  /** Names it for screen readers. */
  label: string;
  value: unknown;
}

const valuesOf = ({ inputs, output, status, state, committed }: LiveRun): NamedValue[] => [
  { title: "Inputs", label: "Inputs of the run", value: inputs },
  ...(status === "succeeded" ? [{ title: "Output", label: "Output of the run", value: output }] : []),
  ...(state === undefined ? [] : [{ title: "State read", label: "State that the run read", value: state }]),
  ...(committed === undefined
    ? []
    : [{ title: "State committed", label: "State that the run committed", value: committed }]),
];

export function RunValues({ run }: { run: LiveRun }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {valuesOf(run).map((named) => (
        <Section key={named.title} title={named.title} order={2}>
          <RunValue run={run} {...named} />
        </Section>
      ))}
    </SimpleGrid>
  );
}

/** Each value behind its title: on the page of a failed run, the step that failed comes first. */
export function FoldedValues({ run }: { run: LiveRun }) {
  return (
    <Accordion variant="separated" multiple order={2}>
      {valuesOf(run).map((named) => (
        <Accordion.Item key={named.title} value={named.title}>
          <Accordion.Control>{named.title}</Accordion.Control>
          <Accordion.Panel>
            <RunValue run={run} {...named} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function RunValue({ run, label, value }: Omit<NamedValue, "title"> & { run: LiveRun }) {
  return (
    <ScrollableValue label={label}>
      <ValueView value={value} label={label} loadFull={fullValueLoader(run.id, value)} />
    </ScrollableValue>
  );
}
