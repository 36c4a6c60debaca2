/** The button in the header, and Ctrl K on every page, that open the search of the whole interface. */
import { ActionIcon, Kbd, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useEffect } from "react";
import { useMatch } from "react-router";
import { useSession } from "../app/session.tsx";
import classes from "./find.module.css";
import { rememberWorkflow } from "./recent.ts";
import { MODIFIER } from "./shortcuts.ts";

const FindDialog = lazy(() => import("./find-dialog.tsx"));

export function Find() {
  const { user } = useSession();
  const [isOpen, { open, close }] = useDisclosure();
  const openedId = useMatch("/workflows/:workflowId")?.params.workflowId;
  // In fields too, but not in the editor, which has its own commands.
  useHotkeys([["mod+K", open]], []);
  useEffect(() => {
    if (openedId !== undefined && openedId !== "new") rememberWorkflow(user.id, openedId);
  }, [openedId, user.id]);
  return (
    <>
      <UnstyledButton className={classes["button"]} onClick={open} visibleFrom="sm">
        <IconSearch size={16} aria-hidden />
        <Text size="sm" c="dimmed">
          Find
        </Text>
        <Kbd size="xs">{MODIFIER} K</Kbd>
      </UnstyledButton>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Find" onClick={open} hiddenFrom="sm">
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <FindDialog onClose={close} />
        </Suspense>
      )}
    </>
  );
}
