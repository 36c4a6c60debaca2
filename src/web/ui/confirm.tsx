/** Before something that can't be undone: the thing is named, and nothing happens by accident. */
import { Text } from "@mantine/core";
import { modals } from "@mantine/modals";

interface Asked {
  /** "Revoke the key "ci"?" */
  title: string;
  /** What follows from it. */
  consequence: string;
  /** The button: "Revoke". */
  confirm: string;
  /** The other one, where "Cancel" could be taken for the deed. */
  cancel?: string;
  onConfirm: () => void;
}

export function confirmAction({ title, consequence, confirm, cancel = "Cancel", onConfirm }: Asked): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel },
    confirmProps: { color: "red" },
    onConfirm,
  });
}
