/** The calendar; loaded when a day of one's own is asked for. */
import "@mantine/dates/styles.css";
import { DatePickerInput } from "@mantine/dates";

interface ExpiryDatePickerProps {
  value: string | null;
  onChange: (day: string | null) => void;
  error?: string | undefined;
}

export default function ExpiryDatePicker({ value, onChange, error }: ExpiryDatePickerProps) {
  return (
    <DatePickerInput
      label="Last day"
      description="The key ends with this day, at 24:00 UTC."
      placeholder="Choose a day"
      valueFormat="YYYY-MM-DD"
      minDate={new Date().toISOString().slice(0, 10)}
      value={value}
      onChange={onChange}
      error={error}
      popoverProps={{ withinPortal: true }}
    />
  );
}
