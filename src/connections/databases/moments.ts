/** Moments as the engine writes them: ISO 8601 with a time and an offset, such as run.started_at and what timestamp() gives. */

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(:\d\d(?:\.\d+)?)(?:Z|([+-])(0\d|1[0-5]):?([0-5]\d))$/;
const MINUTE_MS = 60_000;

/** The parts of a moment in UTC. */
export interface UtcMoment {
  /** Such as 2026-01-31. */
  date: string;
  /** Such as 23:59:59.123456, with the digits that were written. */
  time: string;
  /** Whether it was written with an offset other than that of UTC. */
  isShifted: boolean;
}

/** @returns undefined unless the whole text is a moment of the years 1 to 9999 */
export function readMoment(text: unknown): UtcMoment | undefined {
  if (typeof text !== "string") return undefined;
  const match = MOMENT.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, seconds, sign, hours = "0", minutes = "0"] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}`;
  const at = Date.parse(`${local}Z`);
  // A day or an hour that does not exist, and a leap second, are left to the database.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 16) !== local || seconds! >= ":60")
    return undefined;
  const shift = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  const utc = new Date(at - shift * MINUTE_MS).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  return { date: utc.slice(0, 10), time: `${utc.slice(11, 16)}${seconds}`, isShifted: shift !== 0 };
}
