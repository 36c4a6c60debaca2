/** Saves all runs that fit the filter as a file. */
import { Button, Group, Menu, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { send } from "../api/client.ts";
import { notifyError, notifySuccess, notifyWarning } from "../ui/notify.ts";
import { cursorParam } from "../ui/pagination.ts";
import { saveFile } from "../ui/save-file.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { fileName, MAX_DOWNLOAD_RUNS, readRuns, runsText } from "./download.ts";
import type { toListQuery } from "./filters.ts";
import { pluralize } from "./labels.ts";

/** The largest page of the API. */
const PAGE_SIZE = 200;

interface DownloadMenuProps {
  query: ReturnType<typeof toListQuery> & { project?: string };
  /** Number of runs that fit, as text; null if it is unknown. */
  total: string | null;
  /** Whether there is nothing to download. A download that has begun goes on. */
  disabled: boolean;
}

interface Progress {
  /** Number of runs that were read. */
  count: number;
  /** The total at the beginning: another filter that is chosen meanwhile has another one. */
  total: string | null;
}

export function DownloadMenu({ query, total, disabled }: DownloadMenuProps) {
  const [progress, setProgress] = useState<Progress>({ count: 0, total: null });
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const download = useSingleFlightMutation({
    mutationFn: async (type: "csv" | "json") => {
      const { signal } = (abort.current = new AbortController());
      setProgress({ count: 0, total });
      const read = await readRuns(
        (cursor) =>
          send("get", "/runs", { query: { ...query, limit: PAGE_SIZE, ...cursorParam(cursor) }, signal }),
        (count) => setProgress({ count, total }),
      );
      signal.throwIfAborted();
      saveFile(fileName(new Date(), read, type), type, runsText(read.runs, type));
      return read;
    },
    onSuccess: ({ runs, more }) =>
      more
        ? notifyWarning(
            `The file has the newest ${runs.length.toLocaleString()} runs only, which is the maximum of a download. More runs fit the filter: choose a shorter time range for the others.`,
          )
        : notifySuccess(`Saved ${pluralize(runs.length, "run")}.`),
    onError: (error) => {
      if (abort.current?.signal.aborted !== true) notifyError("Could not download the runs", error);
    },
  });
  if (download.isPending)
    return (
      <Group gap="xs">
        <Text size="sm" role="status">
          {progressText(progress)}
        </Text>
        <Button variant="default" onClick={() => abort.current?.abort()}>
          Stop download
        </Button>
      </Group>
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} disabled={disabled}>
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All runs that fit the filter, up to {MAX_DOWNLOAD_RUNS.toLocaleString()}</Menu.Label>
        <Menu.Item onClick={() => download.mutate("csv")}>CSV</Menu.Item>
        <Menu.Item onClick={() => download.mutate("json")}>JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const progressText = ({ count, total }: Progress): string =>
  total === null
    ? `Reading runs: ${count.toLocaleString()}…`
    : `Reading runs: ${count.toLocaleString()} of ${total}…`;
