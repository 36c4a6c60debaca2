/** Moments as texts: a date with a time and an offset, such as run.started_at and what timestamp() reads. (Child processes load this file.) */
import { readWrittenTime } from "../../core/written-times.ts";

/** The parts of a moment in UTC. */
export interface UtcMoment {
  /** Such as 2026-01-31. */
  date: string;
  /** Such as 23:59:59.123456, with the digits that were written. */
  time: string;
  /** Whether it was written with an offset other than that of UTC. */
  isShifted: boolean;
}

/**
 * A day or a time of day that does not exist, and a leap second, are left to the database.
 * @returns undefined unless the whole text is a moment of the years 1 to 9999
 */
export function readMoment(text: unknown): UtcMoment | undefined {
  if (typeof text !== "string") return undefined;
  const written = readWrittenTime(text.trim());
  if (typeof written !== "object" || written.offset === undefined) return undefined;
  const { local, fraction, offset } = written;
  const utc = new Date(local - offset).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  const second = utc.slice(11, 19);
  return {
    date: utc.slice(0, 10),
    time: fraction === "" ? second : `${second}.${fraction}`,
    isShifted: offset !== 0,
  };
}

/** The spelling that PostgreSQL and DuckDB read for times with a zone, and for those and dates without one. */
export const utcText = ({ date, time }: UtcMoment): string => `${date} ${time}Z`;
