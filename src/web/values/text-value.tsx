/** Wrapped text; long text in parts with a pagination. */
import { Box, Group, Pagination, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import * as texts from "#texts/values";
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
            {texts.part({ part, parts, count: text.length })}
          </Text>
          <Pagination
            size="sm"
            siblings={0}
            total={parts}
            value={part}
            onChange={setPart}
            getItemProps={(page) => ({ "aria-label": texts.partNumber({ part: page }) })}
            getControlProps={(control) => ({ "aria-label": texts.partControl({ control }) })}
          />
        </Group>
      )}
    </Stack>
  );
}

/** @param isCode whether it is JSON, which reads from left to right; else each paragraph has the direction of its words */
export function WrappedText({ text, isCode = false }: { text: string; isCode?: boolean }) {
  return (
    <Box
      component="pre"
      m={0}
      fz="sm"
      ff="inherit"
      style={{
        whiteSpace: "pre-wrap",
        overflowWrap: "anywhere",
        unicodeBidi: isCode ? "isolate" : "plaintext",
      }}
    >
      {text}
    </Box>
  );
}
