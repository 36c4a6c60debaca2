/** The calendar for a custom expiration date. Loaded on demand because of its size. */
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
      description="The key expires at the end of this day (UTC)."
      placeholder="Select a date"
      valueFormat="YYYY-MM-DD"
      minDate={new Date().toISOString().slice(0, 10)}
      value={value}
      onChange={onChange}
      error={error}
      popoverProps={{ withinPortal: true }}
    />
  );
}
