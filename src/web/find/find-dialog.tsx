/** Finds workflows, runs by their ids, people, pages and actions, by keyboard or mouse. */
import { Combobox, Group, Kbd, Modal, ScrollArea, Stack, Text, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue, useDidUpdate } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import classes from "./find.module.css";
import { SHORTCUT_HELP, SHORTCUTS } from "./shortcuts.ts";
import { useResults } from "./use-results.tsx";

/** Pause after the last key before the server is asked, in milliseconds. */
const DEBOUNCE_MS = 150;

export default function FindDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text, DEBOUNCE_MS);
  const [isHelp, setHelp] = useState(false);
  // The list is always open. Esc, which would close it, closes the dialog.
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose });
  const { groups, isLoading, error } = useResults(text.trim(), asked.trim());
  const first = groups[0]?.options[0]?.value;
  const { selectFirstOption } = combobox;
  useDidUpdate(() => void selectFirstOption(), [text, first]);
  const choose = (value: string): void => {
    if (value === SHORTCUT_HELP) return setHelp(true);
    onClose();
    void navigate(value);
  };
  if (isHelp) return <ShortcutHelp onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size="lg"
      yOffset="10vh"
      padding={0}
      attributes={{ content: { "aria-label": "Find" } }}
    >
      <Combobox store={combobox} onOptionSubmit={choose}>
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            aria-label="Find workflows, runs, people, pages and actions"
            placeholder="Find a workflow, a run, a page or an action"
            variant="unstyled"
            size="md"
            px="md"
            leftSection={<IconSearch size={18} aria-hidden />}
            value={text}
            maxLength={200}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <ScrollArea.Autosize mah="60vh" type="auto" className={classes["results"] ?? ""}>
          <Combobox.Options p="xs" labelledBy="find-results">
            <span id="find-results" className="visually-hidden">
              Results
            </span>
            {groups.map(({ label, options }) => (
              <Combobox.Group key={label} label={label}>
                {options.map(({ value, content, Icon, detail }) => (
                  <Combobox.Option key={value} value={value}>
                    <span className={classes["option"]}>
                      <Icon size={16} aria-hidden />
                      <Text span size="sm" truncate>
                        {content}
                      </Text>
                      {detail !== undefined && (
                        <Text span size="xs" c="inherit" opacity={0.85} ms="auto" truncate>
                          {detail}
                        </Text>
                      )}
                    </span>
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            ))}
          </Combobox.Options>
          <Text size="sm" c="dimmed" px="md" pb="sm" role="status">
            {error ?? (isLoading ? "Searching…" : groups.length === 0 ? "Nothing found." : "")}
          </Text>
        </ScrollArea.Autosize>
      </Combobox>
    </Modal>
  );
}

function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
      <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
        {SHORTCUTS.map(({ keys, does }) => (
          <Group key={does} component="li" justify="space-between" wrap="nowrap">
            <Text size="sm">{does}</Text>
            <Group gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
