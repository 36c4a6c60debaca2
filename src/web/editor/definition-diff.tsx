/** A read-only diff of two versions of a definition. Load it with `lazy`: it contains CodeMirror. */
import { ActionIcon, Box, Group, Switch, Text, Tooltip, useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import * as texts from "#texts/editor";
import { createDiffView, type DiffView } from "./diff-view.ts";

export interface DefinitionDiffProps {
  before: string;
  after: string;
  /** Name of the older version: "Version 3". */
  beforeLabel: string;
  afterLabel: string;
}

export default function DefinitionDiff(props: DefinitionDiffProps) {
  const { before, after, beforeLabel, afterLabel } = props;
  if (before === after) {
    return (
      <Text c="dimmed" role="status">
        {texts.sameDefinition({ before: beforeLabel, after: afterLabel })}
      </Text>
    );
  }
  return <DiffPanel {...props} />;
}

function DiffPanel({ before, after, beforeLabel, afterLabel }: DefinitionDiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<DiffView>(undefined);
  const [count, setCount] = useState(0);
  const [showsUnchanged, setShowsUnchanged] = useState(false);
  const dark = useComputedColorScheme("light") === "dark";
  const wide = useMediaQuery("(min-width: 70em)", undefined, { getInitialValueInEffect: false });

  useEffect(() => {
    const created = createDiffView(host.current!, {
      before,
      after,
      beforeLabel,
      afterLabel,
      wide,
      dark,
      collapsed: !showsUnchanged,
    });
    view.current = created;
    setCount(created.count);
    return () => created.destroy();
  }, [before, after, beforeLabel, afterLabel, wide, dark, showsUnchanged]);

  return (
    <Box>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="xs">
          <Text size="sm" role="status">
            {texts.changes({ count })}
          </Text>
          <NavigationButton
            label={texts.previousChange}
            Icon={IconArrowUp}
            onClick={() => view.current?.previous()}
          />
          <NavigationButton
            label={texts.nextChange}
            Icon={IconArrowDown}
            onClick={() => view.current?.next()}
          />
        </Group>
        <Switch
          size="sm"
          label={texts.showUnchanged}
          checked={showsUnchanged}
          onChange={(event) => setShowsUnchanged(event.currentTarget.checked)}
        />
      </Group>
      <Group grow gap={0} wrap="nowrap" mb={4}>
        <SideLabel sign="−" label={beforeLabel} />
        <SideLabel sign="+" label={afterLabel} />
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

function SideLabel({ sign, label }: { sign: string; label: string }) {
  return (
    <Text size="sm" fw={600} truncate>
      <span aria-hidden>{sign} </span>
      {label}
    </Text>
  );
}

interface NavigationButtonProps {
  label: string;
  Icon: typeof IconArrowUp;
  onClick: () => void;
}

function NavigationButton({ label, Icon, onClick }: NavigationButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" aria-label={label} onClick={onClick}>
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
