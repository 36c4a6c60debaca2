/** A moment as the browser's field writes it (local, no zone), and as a value has it (with a zone). */

/** @returns what a datetime-local field shows; undefined where it could not show the value as it is */
export function toLocalDateTime(moment: string): string | undefined {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime()) || !/T.*(?:Z|[+-]\d\d:\d\d)$/i.test(moment)) return undefined;
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, at.getUTCSeconds() === 0 ? 16 : 19);
}

/** @param local as the field gives it: `2026-11-21T08:00` */
export const fromLocalDateTime = (local: string): string =>
  new Date(local).toISOString().replace(".000Z", "Z");

/** Whether a date field can show it. */
export const isDate = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
