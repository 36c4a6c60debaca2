/** Fields that differ, each with its value before and after. */
import { Box, Code, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import type { Difference } from "../../../schemas/difference.ts";
import { formatDifferenceValue } from "./results.ts";

interface DifferencesProps {
  differences: readonly Difference[];
  /** Maximum number of fields that are shown; the others are counted. */
  max?: number;
}

export function Differences({ differences, max = 3 }: DifferencesProps) {
  if (differences.length === 0) return null;
  const rest = differences.length - max;
  return (
    <Box component="ul" m={0} p={0} style={{ listStyle: "none", overflowWrap: "anywhere" }}>
      {differences.slice(0, max).map(({ path, before, after }) => (
        <Text key={path} component="li" size="xs" mb={2}>
          {path === "" ? "The whole value" : path}: <span className="visually-hidden">before </span>
          <Code>{formatDifferenceValue(before)}</Code>{" "}
          <IconArrowRight size={12} aria-hidden style={{ verticalAlign: "-2px" }} />{" "}
          <span className="visually-hidden">after </span>
          <Code>{formatDifferenceValue(after)}</Code>
        </Text>
      ))}
      {rest > 0 && (
        <Text component="li" size="xs" c="dimmed">
          And {rest.toLocaleString()} more.
        </Text>
      )}
    </Box>
  );
}
