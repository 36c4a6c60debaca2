/** The confirmation dialog for destructive actions. */
import { Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import type { ReactNode } from "react";

interface Confirmation {
  /** Names the action and its object: `Revoke the key "ci"?` */
  title: ReactNode;
  /** What the action causes, and whether it can be undone. */
  consequence: ReactNode;
  /** Label of the button that confirms, such as "Revoke". */
  confirm: string;
  /** Label of the other button. Needed where "Cancel" could be mistaken for the action itself. */
  cancel?: string;
  onConfirm: () => void;
}

export function confirmAction({
  title,
  consequence,
  confirm,
  cancel = "Cancel",
  onConfirm,
}: Confirmation): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel },
    confirmProps: { color: "red" },
    onConfirm,
  });
}
