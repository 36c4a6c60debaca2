/** Opens the command palette: by a button in the header, and by Ctrl-K or Cmd-K anywhere. It is loaded when it is first opened. */
import { ActionIcon, Button, Kbd } from "@mantine/core";
import { useHotkeys, useOs } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/palette";
import type { PalettePage } from "./items.tsx";

const loadPalette = () => import("./command-palette.tsx");
const CommandPalette = lazy(loadPalette);

export function SearchButton({ pages }: { pages: readonly PalettePage[] }) {
  const [isOpen, setOpen] = useState(false);
  const isMac = ["macos", "ios"].includes(useOs());
  // In text fields too: a person who types can leave them without the mouse.
  useHotkeys([["mod+K", () => setOpen(true)]], [], true);
  const shared = {
    onClick: () => setOpen(true),
    onMouseEnter: () => void loadPalette(),
    "aria-keyshortcuts": isMac ? "Meta+K" : "Control+K",
  };
  return (
    <>
      <Button
        {...shared}
        variant="default"
        size="sm"
        fw={400}
        c="dimmed"
        visibleFrom="sm"
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={
          <Kbd size="xs" aria-hidden>
            {isMac ? "⌘ K" : texts.shortcut}
          </Kbd>
        }
      >
        {texts.search}
      </Button>
      <ActionIcon
        {...shared}
        variant="subtle"
        color="gray"
        size="lg"
        hiddenFrom="sm"
        aria-label={texts.search}
      >
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <CommandPalette pages={pages} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
