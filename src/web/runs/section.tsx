/** Parts of the run pages: a section with a heading, an error box, and a scrollable value. */
import { Alert, ScrollArea, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { RunError } from "../../../schemas/run.ts";
import { withoutApiWords } from "../api/api-words.ts";
import { ValueView } from "../values/value-view.tsx";

/** @param order heading level: 3 within a step, 2 on the page itself */
export function Section({
  title,
  order = 3,
  children,
}: {
  title: string;
  order?: 2 | 3;
  children: ReactNode;
}) {
  return (
    <Stack gap="xs" miw={0}>
      <Title order={order} size="h6">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

export function ErrorBox({ error }: { error: RunError }) {
  const fix = withoutApiWords(error.fix ?? "");
  return (
    <Stack gap="xs">
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={error.code} role="note">
        <Stack gap="xs">
          <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {error.message}
          </Text>
          {fix !== "" && (
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              <strong>How to fix:</strong> {fix}
            </Text>
          )}
        </Stack>
      </Alert>
      {error.details !== undefined && <ValueView value={error.details} label={`Details of ${error.code}`} />}
    </Stack>
  );
}

/** Limits the height of a long value, which then scrolls. */
export function ScrollableValue({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ScrollArea.Autosize
      mah={400}
      type="auto"
      offsetScrollbars
      viewportProps={{ tabIndex: 0, role: "region", "aria-label": label }}
    >
      {children}
    </ScrollArea.Autosize>
  );
}
