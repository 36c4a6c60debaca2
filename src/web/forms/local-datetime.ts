/** Converts between ISO 8601 timestamps with an offset and the values of datetime-local inputs, which have none. */

/** @returns the value of a datetime-local input; undefined if the timestamp is invalid or has no offset */
export function toLocalDateTime(timestamp: string): string | undefined {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime()) || !/T.*(?:Z|[+-]\d\d:\d\d)$/i.test(timestamp)) return undefined;
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, at.getUTCSeconds() === 0 ? 16 : 19);
}

/** @param local value of a datetime-local input, such as `2026-11-21T08:00` */
export const fromLocalDateTime = (local: string): string =>
  new Date(local).toISOString().replace(".000Z", "Z");

/** Whether a date input can show the value. */
export const isDate = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
