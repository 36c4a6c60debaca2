/** The buttons above the list of runs that retry or cancel the selected runs, or all that fit the filter. */
import { Button, Group, Text, Tooltip } from "@mantine/core";
import { IconBan, IconRefresh } from "@tabler/icons-react";
import { lazy, Suspense, useId } from "react";
import type { BulkActionKind } from "../../../schemas/bulk-action.ts";
import { useWorkflowText } from "../workflows/names.tsx";
import { type BulkChoice, bulkButton, type ListedRuns } from "./choice.ts";

const BulkActionDialog = lazy(async () => ({
  default: (await import("./bulk-action-dialog.tsx")).BulkActionDialog,
}));

const ICONS = { retry: IconRefresh, cancel: IconBan } as const;

interface BulkButtonsProps extends ListedRuns {
  onChoose: (choice: BulkChoice) => void;
}

export function BulkButtons({ onChoose, ...shown }: BulkButtonsProps) {
  const workflowName = useWorkflowText(shown.filters.workflow ?? null);
  const listed = { ...shown, workflowName };
  return (
    <Group gap="xs" role="group" aria-label="Bulk actions">
      {(["retry", "cancel"] as const).map((action) => (
        <BulkButton key={action} action={action} listed={listed} onChoose={onChoose} />
      ))}
    </Group>
  );
}

interface ChosenBulkActionProps {
  choice: BulkChoice | undefined;
  onClose: () => void;
}

/** The dialog of a choice. It stays open when the buttons disappear, which they do when the list becomes empty. */
export const ChosenBulkAction = ({ choice, onClose }: ChosenBulkActionProps) => (
  <Suspense>{choice !== undefined && <BulkActionDialog choice={choice} onClose={onClose} />}</Suspense>
);

interface BulkButtonProps {
  action: BulkActionKind;
  listed: ListedRuns;
  onChoose: (choice: BulkChoice) => void;
}

function BulkButton({ action, listed, onChoose }: BulkButtonProps) {
  const { label, target } = bulkButton(action, listed);
  const Icon = ICONS[action];
  const id = useId();
  const style = { size: "xs", variant: "default", leftSection: <Icon size={14} aria-hidden /> } as const;
  if (!("reason" in target))
    return (
      <Button {...style} onClick={() => onChoose(target)}>
        {label}
      </Button>
    );
  // It keeps the focus and shows its reason, which the attribute `disabled` would prevent.
  return (
    <Tooltip
      label={target.reason}
      withinPortal={false}
      multiline
      maw={260}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Button
        {...style}
        data-disabled
        aria-disabled
        aria-describedby={id}
        onClick={(event) => event.preventDefault()}
      >
        {label}
        <Text span id={id} className="visually-hidden">
          {target.reason}
        </Text>
      </Button>
    </Tooltip>
  );
}
