/** Buttons that filter a list by one property, each with the number of its items. */
import { Button, Group } from "@mantine/core";

interface FilterOption<Value> {
  /** Undefined for all items. */
  value: Value | undefined;
  label: string;
  count: number;
}

interface FilterButtonsProps<Value> {
  options: readonly FilterOption<Value>[];
  shown: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

export function FilterButtons<Value extends string>({ options, shown, onChange }: FilterButtonsProps<Value>) {
  return (
    <Group gap="xs" role="group" aria-label="Show only">
      {options.map(({ value, label, count }) => (
        <Button
          key={label}
          size="compact-sm"
          variant={value === shown ? "filled" : "default"}
          aria-pressed={value === shown}
          onClick={() => onChange(value)}
        >
          {label} ({count.toLocaleString()})
        </Button>
      ))}
    </Group>
  );
}
