/** A value that the server truncated: its beginning, and a button to load the full value. */
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useState } from "react";
import * as texts from "#texts/values";
import { formatNumber } from "../locale/locale.ts";
import { ErrorAlert } from "../ui/page.tsx";
import type { TruncatedPayload } from "./classify-value.ts";
import { WrappedText } from "./text-value.tsx";

const PREVIEW_CHARS = 4_000;

type LoadState = { state: "idle" | "loading" } | { state: "failed"; error: Error };

interface TruncatedValueProps {
  payload: TruncatedPayload;
  loadFull: (() => Promise<unknown>) | undefined;
  onLoaded: (value: unknown) => void;
}

export function TruncatedValue({ payload, loadFull, onLoaded }: TruncatedValueProps) {
  const [loadState, setLoadState] = useState<LoadState>({ state: "idle" });
  const load = async (request: () => Promise<unknown>) => {
    setLoadState({ state: "loading" });
    try {
      onLoaded(await request());
    } catch (error) {
      setLoadState({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) });
    }
  };
  const loading = loadState.state === "loading";
  const size = formatSize(payload.chars);
  const preview = payload.preview.slice(0, PREVIEW_CHARS).toWellFormed();
  const lists = Object.entries(payload.lists ?? {});
  return (
    <Stack gap="sm">
      <Alert color="gray" icon={<IconScissors aria-hidden />} title={texts.preview}>
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            {lists.length === 0
              ? texts.firstCharacters({ shown: preview.length, total: payload.chars, size })
              : texts.firstItems({
                  lists: lists.map(([path, length]) => describeList(path, length)).join(", "),
                  size,
                })}
          </Text>
          {loadFull !== undefined && loadState.state !== "failed" && (
            <Button size="xs" variant="default" loading={loading} onClick={() => void load(loadFull)}>
              {texts.loadFull}
            </Button>
          )}
          <Text size="sm" role="status" hidden={!loading}>
            {loading && texts.loadingSize({ size })}
          </Text>
        </Stack>
      </Alert>
      {loadState.state === "failed" && loadFull !== undefined && (
        <ErrorAlert error={loadState.error} retry={() => void load(loadFull)} />
      )}
      <Text component="div" ff="monospace">
        <WrappedText text={`${preview}…`} isCode />
      </Text>
    </Stack>
  );
}

/** "rows (1,000)"; the value itself may be the list. */
const describeList = (path: string, length: number): string =>
  path === "" ? texts.wholeList({ count: length }) : `${path} (${formatNumber(length)})`;

const ONE_DECIMAL = { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false };

/** @returns the size of a JSON text, such as "1.0 MB", with one byte per character, which is exact for ASCII */
function formatSize(chars: number): string {
  if (chars < 1_000) return `${chars} B`;
  return chars < 1_000_000
    ? `${Math.round(chars / 1_000)} kB`
    : `${formatNumber(chars / 1_000_000, ONE_DECIMAL)} MB`;
}
