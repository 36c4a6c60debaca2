/** The values that the workflow names for the decision, as the mail shows them. */
import { Stack, Text } from "@mantine/core";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { ValueView } from "../values/value-view.tsx";

/** Nothing for an approval without evidence. */
export function Evidence({ approval: { evidence } }: { approval: Approval }) {
  const entries = Object.entries(evidence ?? {});
  if (entries.length === 0) return null;
  return (
    <Section title={texts.evidence} order={2}>
      <Stack gap="sm">
        {entries.map(([name, value]) => (
          <Stack key={name} gap={2} miw={0}>
            <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Text>
            <ValueView value={value} label={texts.evidenceOf({ name })} />
          </Stack>
        ))}
      </Stack>
    </Section>
  );
}
