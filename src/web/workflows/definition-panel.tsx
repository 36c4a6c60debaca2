/** The definition as text, to read, copy or download. */
import { Button, Group, SegmentedControl, Stack } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/workflows";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { type Format, savedText, toText } from "../editor/format.ts";
import { Copy } from "../ui/copy.tsx";
import { EmptyState, QueryContent, LoadingSkeleton } from "../ui/page.tsx";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));

export function DefinitionPanel({ workflow }: { workflow: WorkflowWithDefinition & { source?: string } }) {
  const { id, name, description, tags, definition, version, source } = workflow;
  const [format, setFormat] = useState<Format>("yaml");
  const text = useQuery({
    queryKey: ["workflows", id, "text", version, format, source],
    queryFn: async () => ({
      displayed: await savedText(workflow, format),
      // A file also contains the workflow's own fields, so that it can be imported.
      file: await toText({ id, name, description, tags, ...definition }, format),
    }),
    staleTime: Infinity,
  });
  if (definition === null) {
    return <EmptyState title={texts.noDefinition}>{texts.noDefinitionHelp}</EmptyState>;
  }
  return (
    <QueryContent query={text}>
      {({ displayed, file }) => (
        <Stack gap="xs">
          <Group justify="space-between" gap="xs">
            <FormatControl format={format} onChange={setFormat} />
            <Group gap="xs">
              <Copy text={displayed} label={texts.definitionNoun} />
              <Button
                variant="default"
                size="xs"
                leftSection={<IconDownload size={14} aria-hidden />}
                onClick={() => download(`${id}.${format}`, file)}
              >
                {texts.download}
              </Button>
            </Group>
          </Group>
          <Suspense fallback={<LoadingSkeleton rows={8} />}>
            <DefinitionEditor
              value={displayed}
              format={format}
              onChange={noop}
              issues={NO_ISSUES}
              readOnly
              label={texts.definitionOf({ name })}
              minHeight={240}
            />
          </Suspense>
        </Stack>
      )}
    </QueryContent>
  );
}

const NO_ISSUES: never[] = [];
const noop = () => undefined;

export function FormatControl({ format, onChange }: { format: Format; onChange: (format: Format) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={texts.format}
      data={[
        { value: "yaml", label: texts.formatName({ format: "yaml" }) },
        { value: "json", label: texts.formatName({ format: "json" }) },
      ]}
      value={format}
      onChange={onChange}
    />
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
