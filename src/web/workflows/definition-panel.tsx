/** The definition as text, to read, copy or download. */
import { Button, Group, SegmentedControl, Stack } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { changeText, type Format, toText } from "../editor/format.ts";
import { Copy } from "../ui/copy.tsx";
import { EmptyState, QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { versionQuery } from "./queries.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));

export function DefinitionPanel({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, name, description, tags, definition, version } = workflow;
  const [format, setFormat] = useState<Format>("yaml");
  const client = useQueryClient();
  const text = useQuery({
    queryKey: ["workflows", id, "text", version, format],
    queryFn: async () => {
      const { definition_text: written } = await client.fetchQuery(versionQuery(id, version));
      const shown = format === "yaml" ? written : null;
      // A file also contains the workflow's own fields, so that it can be imported.
      const file = { id, name, description, tags, ...definition };
      return {
        displayed: shown ?? (await toText(definition, format)),
        file: (shown && (await changeText(shown, file))) || (await toText(file, format)),
      };
    },
    staleTime: Infinity,
  });
  if (definition === null) {
    return <EmptyState title="No definition yet">Edit the workflow to write one.</EmptyState>;
  }
  return (
    <QueryContent query={text}>
      {({ displayed, file }) => (
        <Stack gap="xs">
          <Group justify="space-between" gap="xs">
            <FormatControl format={format} onChange={setFormat} />
            <Group gap="xs">
              <Copy text={displayed} label="definition" />
              <Button
                variant="default"
                size="xs"
                leftSection={<IconDownload size={14} aria-hidden />}
                onClick={() => download(`${id}.${format}`, file)}
              >
                Download
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
              label={`Definition of ${name}`}
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
      aria-label="Format"
      data={[
        { value: "yaml", label: "YAML" },
        { value: "json", label: "JSON" },
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
