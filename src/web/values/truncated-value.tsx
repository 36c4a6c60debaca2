/** A value that the server truncated: its beginning, and a button to load the full value. */
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useState } from "react";
import { ErrorAlert } from "../ui/page.tsx";
import { formatSize, type TruncatedPayload } from "./classify-value.ts";
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
  return (
    <Stack gap="sm">
      <Alert color="gray" icon={<IconScissors aria-hidden />} title="Preview">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">Full value: {size}.</Text>
          {loadFull !== undefined && loadState.state !== "failed" && (
            <Button size="xs" variant="default" loading={loading} onClick={() => void load(loadFull)}>
              Load full value
            </Button>
          )}
          <Text size="sm" role="status" hidden={!loading}>
            {loading && `Loading ${size}…`}
          </Text>
        </Stack>
      </Alert>
      {loadState.state === "failed" && loadFull !== undefined && (
        <ErrorAlert error={loadState.error} retry={() => void load(loadFull)} />
      )}
      <Text component="div" ff="monospace">
        <WrappedText text={`${payload.preview.slice(0, PREVIEW_CHARS).toWellFormed()}…`} />
      </Text>
    </Stack>
  );
}
