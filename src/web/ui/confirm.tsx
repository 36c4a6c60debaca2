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
  onConfirm: () => void;
}

export function ask({ title, consequence, confirm, onConfirm }: Asked): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel: "Cancel" },
    confirmProps: { color: "red" },
    onConfirm,
  });
}
