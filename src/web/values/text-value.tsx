/** Wrapped text; long text in parts with a pagination. */
import { Box, Group, Pagination, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { splitOffsets } from "./text-parts.ts";

export function TextValue({ text }: { text: string }) {
  const offsets = useMemo(() => splitOffsets(text), [text]);
  const parts = offsets.length - 1;
  const [requestedPart, setPart] = useState(1);
  const part = Math.min(requestedPart, parts);
  return (
    <Stack gap="xs">
      <WrappedText text={text.slice(offsets[part - 1], offsets[part])} />
      {parts > 1 && (
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed" role="status">
            Part {part} of {parts} · {text.length.toLocaleString("en")} characters
          </Text>
          <Pagination
            size="sm"
            siblings={0}
            total={parts}
            value={part}
            onChange={setPart}
            getItemProps={(page) => ({ "aria-label": `Part ${page}` })}
            getControlProps={(control) => ({ "aria-label": `${control} part` })}
          />
        </Group>
      )}
    </Stack>
  );
}

export function WrappedText({ text }: { text: string }) {
  return (
    <Box
      component="pre"
      m={0}
      fz="sm"
      ff="inherit"
      style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
    >
      {text}
    </Box>
  );
}
