/** A value that the server cut short: its beginning, and the way to the whole of it. */
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useState } from "react";
import { Failed } from "../ui/page.tsx";
import type { Cut } from "./kinds.ts";
import { Wrapped } from "./text-value.tsx";

const PREVIEW_CHARS = 4_000;

type Progress = { state: "idle" | "loading" } | { state: "failed"; error: Error };

interface CutValueProps {
  cut: Cut;
  whole: (() => Promise<unknown>) | undefined;
  onLoaded: (value: unknown) => void;
}

export function CutValue({ cut, whole, onLoaded }: CutValueProps) {
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
  const size = cut.chars.toLocaleString("en");
  return (
    <Stack gap="sm">
      <Alert color="gray" icon={<IconScissors aria-hidden />} title="Only the beginning is shown">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">The whole is {size} characters of JSON.</Text>
          {whole !== undefined && progress.state !== "failed" && (
            <Button size="xs" variant="default" loading={loading} onClick={() => void load(whole)}>
              Load the whole
            </Button>
          )}
          <Text size="sm" role="status" hidden={!loading}>
            {loading && `Loading ${size} characters…`}
          </Text>
        </Stack>
      </Alert>
      {progress.state === "failed" && whole !== undefined && (
        <Failed error={progress.error} retry={() => void load(whole)} />
      )}
      <Text component="div" ff="monospace">
        <Wrapped text={`${cut.preview.slice(0, PREVIEW_CHARS).toWellFormed()}…`} />
      </Text>
    </Stack>
  );
}
