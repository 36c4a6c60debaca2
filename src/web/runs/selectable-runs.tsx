/** The runs of the list, with checkboxes and the actions on many of them for those who may run something. */
import { Box, Button, Group, Stack, Text } from "@mantine/core";
import type { RunSummary } from "../../../schemas/run.ts";
import { BulkButtons } from "../bulk-actions/bulk-buttons.tsx";
import type { BulkChoice } from "../bulk-actions/choice.ts";
import type { RunFilters } from "./filters.ts";
import { RunRows, SelectAll } from "./run-rows.tsx";
import classes from "./selectable-runs.module.css";
import { useRunSelection } from "./use-run-selection.ts";

interface SelectableRunsProps {
  runs: readonly RunSummary[];
  stale: boolean;
  filters: RunFilters;
  project: { project?: string };
  /** Number of runs that fit the filter; null if it is not known exactly. */
  total: number | null;
  /** Called with the runs that are to be retried or cancelled. */
  onChoose: (choice: BulkChoice) => void;
}

export function SelectableRuns({ runs, stale, filters, project, total, onChoose }: SelectableRunsProps) {
  const selection = useRunSelection(runs);
  const { selected, isPossible, selectAll } = selection;
  return (
    <Stack gap={4}>
      {isPossible && (
        <Group gap="sm" className={classes[selected.length > 0 ? "sticky" : "actions"] ?? ""}>
          <BulkButtons
            filters={filters}
            project={project}
            total={total}
            selected={selected}
            onChoose={onChoose}
          />
          <Group gap="sm">
            <Box hiddenFrom="sm">
              <SelectAll selection={selection} label="All listed" />
            </Box>
            {selected.length > 0 && (
              <>
                <Text size="sm" role="status">
                  {selected.length.toLocaleString()} selected
                </Text>
                <Button variant="subtle" size="compact-sm" onClick={() => selectAll(false)}>
                  Clear selection
                </Button>
              </>
            )}
          </Group>
        </Group>
      )}
      <RunRows runs={runs} stale={stale} selection={selection} />
    </Stack>
  );
}
