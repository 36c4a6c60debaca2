/** What differs between two versions of a definition, to read. Load it on demand. */
import { ActionIcon, Box, Group, Switch, Text, Tooltip, useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { createDiffView, type DiffView } from "./diff-view.ts";

export interface DefinitionDiffProps {
  before: string;
  after: string;
  /** What the older one is called: "Version 3". */
  beforeLabel: string;
  afterLabel: string;
}

export default function DefinitionDiff(props: DefinitionDiffProps) {
  const { before, after, beforeLabel, afterLabel } = props;
  if (before === after) {
    return (
      <Text c="dimmed" role="status">
        No difference: the definitions of {beforeLabel} and {afterLabel} are the same.
      </Text>
    );
  }
  return <Differing {...props} />;
}

function Differing({ before, after, beforeLabel, afterLabel }: DefinitionDiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<DiffView>(undefined);
  const [count, setCount] = useState(0);
  const [whole, setWhole] = useState(false);
  const dark = useComputedColorScheme("light") === "dark";
  const wide = useMediaQuery("(min-width: 70em)", undefined, { getInitialValueInEffect: false });

  useEffect(() => {
    const made = createDiffView(host.current!, {
      before,
      after,
      beforeLabel,
      afterLabel,
      wide,
      dark,
      collapsed: !whole,
    });
    view.current = made;
    setCount(made.count);
    return () => made.destroy();
  }, [before, after, beforeLabel, afterLabel, wide, dark, whole]);

  return (
    <Box>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="xs">
          <Text size="sm" role="status">
            {count === 1 ? "1 place differs" : `${count} places differ`}
          </Text>
          <Step label="Previous difference" Icon={IconArrowUp} onClick={() => view.current?.previous()} />
          <Step label="Next difference" Icon={IconArrowDown} onClick={() => view.current?.next()} />
        </Group>
        <Switch
          size="sm"
          label="Unchanged parts too"
          checked={whole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      </Group>
      <Group grow gap={0} wrap="nowrap" mb={4}>
        <Name sign="−" label={beforeLabel} />
        <Name sign="+" label={afterLabel} />
      </Group>
      <Box
        ref={host}
        mah="75vh"
        bdrs="md"
        style={{ border: "1px solid var(--mantine-color-default-border)", overflow: "auto" }}
      />
    </Box>
  );
}

function Name({ sign, label }: { sign: string; label: string }) {
  return (
    <Text size="sm" fw={600} truncate>
      <span aria-hidden>{sign} </span>
      {label}
    </Text>
  );
}

interface StepProps {
  label: string;
  Icon: typeof IconArrowUp;
  onClick: () => void;
}

function Step({ label, Icon, onClick }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" aria-label={label} onClick={onClick}>
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
