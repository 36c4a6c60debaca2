/** The calendar for a custom expiration date. Loaded on demand because of its size. */
import "@mantine/dates/styles.css";
// oxlint-disable-next-line import/no-unassigned-import -- it registers the German names of days and months
import "dayjs/locale/de";
import { DatePickerInput } from "@mantine/dates";
import * as texts from "#texts/keys";
import { language } from "../locale/locale.ts";

interface ExpiryDatePickerProps {
  value: string | null;
  onChange: (day: string | null) => void;
  error?: string | undefined;
}

export default function ExpiryDatePicker({ value, onChange, error }: ExpiryDatePickerProps) {
  return (
    <DatePickerInput
      label={texts.lastDay}
      description={texts.lastDayHelp}
      placeholder={texts.selectDate}
      locale={language}
      valueFormat="YYYY-MM-DD"
      minDate={new Date().toISOString().slice(0, 10)}
      value={value}
      onChange={onChange}
      error={error}
      popoverProps={{ withinPortal: true }}
    />
  );
}
