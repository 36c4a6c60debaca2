/**
 * Moments and spans of time, exact to the nanosecond: whole milliseconds, which are all that a Date holds, and the nanoseconds
 * after them.
 */
export interface ExactTime {
  /** Milliseconds, since 1970 for a moment. */
  readonly ms: number;
  /** From 0 to 999,999, for times before 1970 and negative spans too. */
  readonly nanos: number;
}

const NANOS = 1_000_000;

/** A moment between two milliseconds. All others are plain dates. */
class ExactDate extends Date {
  readonly nanos: number;
  constructor({ ms, nanos }: ExactTime) {
    super(ms);
    this.nanos = nanos;
  }
  /** Writes three digits after the second, or six or nine where the moment needs them. */
  override toISOString(): string {
    const digits = String(this.nanos).padStart(6, "0").replace(/000$/, "");
    return super.toISOString().replace("Z", `${digits}Z`);
  }
}

/** A span of time. It is a class so that it differs from a JSON object. */
export class Duration implements ExactTime {
  readonly ms: number;
  readonly nanos: number;
  constructor(ms: number, nanos = 0) {
    this.ms = ms;
    this.nanos = nanos;
  }
}

export const toDate = (time: ExactTime): Date => (time.nanos === 0 ? new Date(time.ms) : new ExactDate(time));

/** @param time a timestamp or a duration */
export const exactTime = (time: Date | Duration): ExactTime =>
  time instanceof Duration ? time : { ms: time.getTime(), nanos: time instanceof ExactDate ? time.nanos : 0 };

/** Makes an exact time of a number of nanoseconds. */
export function fromNanos(total: bigint): ExactTime {
  const rest = Number(total % BigInt(NANOS));
  const nanos = rest < 0 ? rest + NANOS : rest;
  return { ms: Number((total - BigInt(nanos)) / BigInt(NANOS)), nanos };
}

export const compareTimes = (one: ExactTime, other: ExactTime): number =>
  one.ms - other.ms || one.nanos - other.nanos;

/** Adds two times, or subtracts the second one. */
export function addTimes(one: ExactTime, other: ExactTime, sign: 1 | -1): ExactTime {
  const nanos = one.nanos + sign * other.nanos;
  const carry = Math.floor(nanos / NANOS);
  return { ms: one.ms + sign * other.ms + carry, nanos: nanos - carry * NANOS };
}

/** A text that two times share if and only if they are equal. */
export const timeKey = ({ ms, nanos }: ExactTime): string => (nanos === 0 ? `${ms}` : `${ms}+${nanos}`);

/** The number of seconds as decimal text, with all digits. */
export function secondsText({ ms, nanos }: ExactTime): string {
  const total = BigInt(ms) * BigInt(NANOS) + BigInt(nanos);
  const digits = String(total < 0n ? -total : total).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${total < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Milliseconds without those after the last one: towards zero, as CEL counts the parts of a duration. */
export const wholeMilliseconds = ({ ms, nanos }: ExactTime): number => (ms < 0 && nanos > 0 ? ms + 1 : ms);
