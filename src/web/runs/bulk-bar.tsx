/** What can be done with the selected runs of a list, or with all runs of its filter. */
import { Button, Group, Menu, Text } from "@mantine/core";
import { IconBan, IconDownload, IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import * as texts from "#texts/runs";
import type { RunSummary } from "../../../schemas/run.ts";
import type { ApiResponse } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess, notifyWarning } from "../ui/notify.ts";
import { saveFile } from "../values/save-file.ts";
import { type BulkAction, MAX_BULK } from "./bulk.ts";
import { loadRuns, MAX_EXPORTED, runsToCsv } from "./export-runs.ts";
import { hasEnded } from "./live-updates.ts";

interface BulkBarProps {
  /** The selected runs, newest first. */
  selected: readonly RunSummary[];
  /** Loads a page of the filtered list. */
  loadPage: (cursor: string) => Promise<ApiResponse<RunSummary[]>>;
  onClear: () => void;
  /** Confirmed by the user. */
  onStart: (action: BulkAction, runs: readonly RunSummary[]) => void;
}

export function BulkBar({ selected, loadPage, onClear, onStart }: BulkBarProps) {
  const hasScope = useHasScope();
  const active = selected.filter((run) => !hasEnded(run));
  const retryable = selected.filter((run) => run.status === "failed" || run.status === "cancelled");
  const tooMany = selected.length > MAX_BULK;
  const ask = (action: BulkAction, runs: readonly RunSummary[]): void => {
    const count = runs.length;
    const onConfirm = (): void => {
      onClear();
      onStart(action, runs);
    };
    confirmAction(
      action === "cancel"
        ? {
            title: texts.cancelRunsTitle({ count }),
            consequence: texts.cancelRunsHelp,
            confirm: texts.cancelRuns({ count }),
            cancel: texts.keepRunning,
            onConfirm,
          }
        : {
            title: texts.retryRunsTitle({ count }),
            consequence: texts.retryRunsHelp,
            confirm: texts.retryRuns({ count }),
            onConfirm,
          },
    );
  };
  return (
    <Group gap="sm" justify="space-between">
      <Group gap="sm" role="toolbar" aria-label={texts.selectedRuns}>
        {selected.length > 0 && (
          <>
            <Text size="sm" fw={500} aria-live="polite">
              {texts.runsSelected({ count: selected.length })}
            </Text>
            {hasScope("run") && (
              <>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconBan size={14} aria-hidden />}
                  disabled={active.length === 0 || tooMany}
                  onClick={() => ask("cancel", active)}
                >
                  {texts.cancelCount({ count: active.length })}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconRefresh size={14} aria-hidden />}
                  disabled={retryable.length === 0 || tooMany}
                  onClick={() => ask("retry", retryable)}
                >
                  {texts.retryCount({ count: retryable.length })}
                </Button>
              </>
            )}
            <Button size="xs" variant="subtle" onClick={onClear}>
              {texts.clearSelection}
            </Button>
            {tooMany && (
              <Text size="sm" c="dimmed">
                {texts.atMost({ max: MAX_BULK })}
              </Text>
            )}
          </>
        )}
      </Group>
      <ExportMenu selected={selected} loadPage={loadPage} />
    </Group>
  );
}

function ExportMenu({ selected, loadPage }: Pick<BulkBarProps, "selected" | "loadPage">) {
  const [loaded, setLoaded] = useState<number>();
  const save = async (type: "csv" | "json"): Promise<void> => {
    setLoaded(0);
    try {
      const { runs, isCut } =
        selected.length > 0
          ? { runs: selected, isCut: false }
          : await loadRuns(loadPage, setLoaded, new AbortController().signal);
      saveFile(`runs.${type}`, type, type === "csv" ? runsToCsv(runs) : JSON.stringify(runs, null, 2));
      if (isCut) notifyWarning(texts.exportedNewest({ max: MAX_EXPORTED }));
      else notifySuccess(texts.exported({ count: runs.length }));
    } catch (error) {
      notifyError(texts.exportFailed, error);
    } finally {
      setLoaded(undefined);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          disabled={loaded !== undefined}
          aria-live="polite"
        >
          {loaded === undefined ? texts.exportButton : texts.exporting({ count: loaded })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {selected.length > 0
            ? texts.exportSelected({ count: selected.length })
            : texts.exportAll({ max: MAX_EXPORTED })}
        </Menu.Label>
        <Menu.Item onClick={() => void save("csv")}>{texts.csv}</Menu.Item>
        <Menu.Item onClick={() => void save("json")}>{texts.json}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
