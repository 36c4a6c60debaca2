/** The mark of a run with open interruptions, beside its status in lists. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { IconHelpTriangle } from "@tabler/icons-react";
import { Link } from "react-router";
import type { RunSummary } from "../../../schemas/run.ts";
import { openText } from "./texts.ts";

export function OpenMark({
  run: { id, open_interruptions: count = 0 },
}: {
  run: Pick<RunSummary, "id" | "open_interruptions">;
}) {
  if (count === 0) return null;
  const text = openText(count);
  return (
    <Tooltip label={text} multiline maw={260} events={{ hover: true, focus: true, touch: true }}>
      <ActionIcon
        component={Link}
        to={`/runs/${id}`}
        variant="light"
        color="yellow"
        c="var(--mantine-color-text)"
        size={24}
        aria-label={text}
      >
        <IconHelpTriangle size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
