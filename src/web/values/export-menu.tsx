/** The buttons to copy a value as JSON and to download it. The text is created only on a click. */
import { Button, Group, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import { rowsToCsv } from "../../../schemas/csv.ts";
import { notifyError } from "../ui/notify.ts";
import { formatJson, saveFile } from "../ui/save-file.ts";
import type { Rows } from "./rows.ts";

interface ExportMenuProps {
  value: unknown;
  label: string;
  rows: Rows | undefined;
}

export function ExportMenu({ value, label, rows }: ExportMenuProps) {
  const save = (type: "json" | "csv", text: string) => saveFile(`${fileName(label)}.${type}`, type, text);
  const saveJson = () => save("json", formatJson(value));
  return (
    <Group gap="xs">
      <CopyJson value={value} label={label} />
      {rows === undefined ? (
        <Button {...BUTTON_STYLE} leftSection={<IconDownload size={14} aria-hidden />} onClick={saveJson}>
          Download
        </Button>
      ) : (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button {...BUTTON_STYLE} leftSection={<IconDownload size={14} aria-hidden />}>
              Download
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => save("csv", rowsToCsv(rows.rows, namesOf(rows)))}>CSV</Menu.Item>
            <Menu.Item onClick={saveJson}>JSON</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  );
}

const namesOf = ({ columns }: Rows): string[] => columns.map(({ name }) => name);

const BUTTON_STYLE = { size: "compact-sm", variant: "default" } as const;

function CopyJson({ value, label }: { value: unknown; label: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = () => {
    // Browsers allow clipboard access only over HTTPS or on localhost.
    if (!window.isSecureContext)
      return notifyError(
        `Couldn't copy ${label}`,
        "The browser allows copying only over HTTPS. Download the value instead.",
      );
    clipboard.copy(formatJson(value));
  };
  return (
    <Button
      {...BUTTON_STYLE}
      leftSection={
        clipboard.copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />
      }
      onClick={copy}
    >
      {clipboard.copied ? "Copied" : "Copy as JSON"}
    </Button>
  );
}

const fileName = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80) || "value";
