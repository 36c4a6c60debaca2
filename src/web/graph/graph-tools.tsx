/** Above a large graph: a search for steps, and whether steps in a row or beside each other are folded. */
import { ActionIcon, Button, Group, Text, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconFold, IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent } from "react";

interface GraphToolsProps {
  text: string;
  onText: (text: string) => void;
  /** Number of steps found, and the index of the one that is shown; undefined without a search. */
  found: { count: number; index: number } | undefined;
  /** Shows the next step found, or the previous one. */
  onStep: (by: 1 | -1) => void;
  /** Opens the step that is shown. */
  onOpen: () => void;
  isFolded: boolean;
  /** Left out where the graph is not folded. */
  onFold: (() => void) | undefined;
}

export function GraphTools({ text, onText, found, onStep, onOpen, isFolded, onFold }: GraphToolsProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && text !== "") onText("");
    else if (event.key === "ArrowDown") onStep(1);
    else if (event.key === "ArrowUp") onStep(-1);
    else if (event.key === "Enter") onOpen();
    else return;
    event.preventDefault();
  };
  const hasFound = found !== undefined && found.count > 0;
  return (
    <Group gap="xs" mb="xs">
      <TextInput
        aria-label="Find a step in the graph by id, type or status"
        placeholder="Find a step"
        size="xs"
        w={200}
        leftSection={<IconSearch size={14} aria-hidden />}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {found !== undefined && (
        <Text size="xs" role="status">
          {hasFound ? `${found.index + 1} of ${found.count.toLocaleString()}` : "No step"}
        </Text>
      )}
      {hasFound && (
        <Group gap={4}>
          <ActionIcon variant="default" aria-label="Previous step found" onClick={() => onStep(-1)}>
            <IconChevronLeft size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Next step found" onClick={() => onStep(1)}>
            <IconChevronRight size={16} aria-hidden />
          </ActionIcon>
        </Group>
      )}
      {onFold !== undefined && (
        <Button
          size="xs"
          variant={isFolded ? "light" : "default"}
          aria-pressed={isFolded}
          leftSection={<IconFold size={14} aria-hidden />}
          onClick={onFold}
        >
          Fold
        </Button>
      )}
    </Group>
  );
}
