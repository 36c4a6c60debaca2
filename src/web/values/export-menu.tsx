/** The buttons to copy a value as JSON and to download it. The text is created only on a click. */
import { Button, Group, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import * as texts from "#texts/values";
import { notifyError } from "../ui/notify.ts";
import { toCsv } from "./csv.ts";
import type { Rows } from "./rows.ts";
import { saveFile } from "./save-file.ts";

const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);

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
          {texts.download}
        </Button>
      ) : (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button {...BUTTON_STYLE} leftSection={<IconDownload size={14} aria-hidden />}>
              {texts.download}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => save("csv", toCsv(rows.rows, rows.columns))}>{texts.csv}</Menu.Item>
            <Menu.Item onClick={saveJson}>{texts.json}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  );
}

const BUTTON_STYLE = { size: "compact-sm", variant: "default" } as const;

function CopyJson({ value, label }: { value: unknown; label: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = () => {
    // Browsers allow clipboard access only over HTTPS or on localhost.
    if (!window.isSecureContext) return notifyError(texts.copyFailed({ label }), texts.copyNeedsHttps);
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
      {clipboard.copied ? texts.copied : texts.copyJson}
    </Button>
  );
}

const fileName = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80) || "value";
