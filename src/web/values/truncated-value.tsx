/** A value that the server cut short: its beginning, and the way to the whole of it. */
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useState } from "react";
import { ErrorAlert } from "../ui/page.tsx";
import type { TruncatedPayload } from "./classify-value.ts";
import { WrappedText } from "./text-value.tsx";

const PREVIEW_CHARS = 4_000;

type Progress = { state: "idle" | "loading" } | { state: "failed"; error: Error };

interface TruncatedValueProps {
  payload: TruncatedPayload;
  loadFull: (() => Promise<unknown>) | undefined;
  onLoaded: (value: unknown) => void;
}

export function TruncatedValue({ payload, loadFull, onLoaded }: TruncatedValueProps) {
  const [progress, setProgress] = useState<Progress>({ state: "idle" });
  const load = async (ask: () => Promise<unknown>) => {
    setProgress({ state: "loading" });
    try {
      onLoaded(await ask());
    } catch (error) {
      setProgress({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) });
    }
  };
  const loading = progress.state === "loading";
  const size = payload.chars.toLocaleString("en");
  return (
    <Stack gap="sm">
      <Alert color="gray" icon={<IconScissors aria-hidden />} title="Only the beginning is shown">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">The whole is {size} characters of JSON.</Text>
          {loadFull !== undefined && progress.state !== "failed" && (
            <Button size="xs" variant="default" loading={loading} onClick={() => void load(loadFull)}>
              Load the whole
            </Button>
          )}
          <Text size="sm" role="status" hidden={!loading}>
            {loading && `Loading ${size} characters…`}
          </Text>
        </Stack>
      </Alert>
      {progress.state === "failed" && loadFull !== undefined && (
        <ErrorAlert error={progress.error} retry={() => void load(loadFull)} />
      )}
      <Text component="div" ff="monospace">
        <WrappedText text={`${payload.preview.slice(0, PREVIEW_CHARS).toWellFormed()}…`} />
      </Text>
    </Stack>
  );
}
