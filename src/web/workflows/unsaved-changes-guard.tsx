/** Asks for confirmation before navigation discards unsaved changes. */
import { Button, Group, Modal, Text } from "@mantine/core";
import { useEffect } from "react";
import { useBlocker } from "react-router";
import * as texts from "#texts/workflows";

interface UnsavedChangesGuardProps {
  /** Whether there are unsaved changes. */
  when: boolean;
  /** Names the changes: "your changes to the definition of “Weekly revenue”". */
  what: string;
}

export function UnsavedChangesGuard({ when, what }: UnsavedChangesGuardProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => when && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!when) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [when]);
  return (
    <Modal
      opened={blocker.state === "blocked"}
      onClose={() => blocker.reset?.()}
      title={texts.leaveTitle}
      centered
    >
      <Text size="sm">{texts.unsavedLoss({ what })}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" data-autofocus onClick={() => blocker.reset?.()}>
          {texts.stay}
        </Button>
        <Button color="red" onClick={() => blocker.proceed?.()}>
          {texts.leave}
        </Button>
      </Group>
    </Modal>
  );
}
