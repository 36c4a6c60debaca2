/** Compares a value that arrived as JSON with the text that its database writes for it. */
/**
 * What a column holds, which says in what its text and its JSON may differ. `digits` are numbers as texts, which may come back as
 * numbers.
 */
export type Kind =
  "number" | "digits" | "single" | "singles" | "double" | "boolean" | "text" | "bytes" | "json" | "time";

/** Comes before the source of a number. No text of the tests begins with it. */
const NUMBER = "\u0000";

/** Parses JSON; numbers become texts as they were written, after `NUMBER`, so that no digit is lost here. */
export const parseWritten = (text: string): unknown =>
  JSON.parse(text, ((_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === "number" ? NUMBER + source : value) as (key: string, value: unknown) => unknown);

/** A value as JSON, for messages. */
export const showWritten = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/"\\u0000(.*?)"/g, "$1");

/** Number of digits of the shortest numbers that a double can't hold: a database may write shorter ones as a text, too. */
const LONG_DIGITS = /^-?\d+(?:\.\d+)?$/;
const MIN_LONG_DIGITS = 16;

/** The digits of a number, or of a text that is one with many digits. */
function numberSource(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value.startsWith(NUMBER)) return value.slice(1);
  return value.replaceAll(/\D/g, "").length >= MIN_LONG_DIGITS && LONG_DIGITS.test(value) ? value : undefined;
}

/** The same text for every spelling of a number. */
function exactNumber(source: string): string {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(source.trim());
  if (parts === null) return source;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign === "-" ? "-" : ""}${significant}e${power}`;
}

/** Digits that are enough for every number of single precision (FLT_DECIMAL_DIG). */
const SINGLE_DIGITS = 9;

/** Whether a text is a number of single precision, without the further digits of the double that holds a fraction. */
const isSingle = (source: string, value: number): boolean =>
  Math.fround(Number(source)) === Math.fround(value) &&
  (Number.isSafeInteger(Number(source)) ||
    exactNumber(source).replace(/e.*/, "").replace("-", "").length <= SINGLE_DIGITS);

const NOT_FINITE = /^[+-]?(nan|inf|infinity)$/i;

/** Whether a value arrived as null because it is not finite, which is documented. */
export const isDocumentedNull = (kind: Kind, text: string | null, arrived: unknown): boolean =>
  arrived === null && text !== null && kind !== "text" && NOT_FINITE.test(text);

/** JSON in one form: numbers by their value, the fields of objects in order. */
function canonical(value: unknown): string {
  const source = numberSource(value);
  if (source !== undefined) return `number ${exactNumber(source)}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
}

/** A time in one form: `T` between date and time, no zero at the end of the fraction, UTC as nothing. */
const canonicalTime = (text: string): string =>
  text
    .replace(/^(\S+-\d\d) /, "$1T")
    .replace(/(?:Z|[+-]00(?::?00)?)$/, "")
    .replace(/(:\d\d(?:\.\d*?)?)0*$/, (_all, kept: string) => kept.replace(/\.$/, ""))
    .replace(/(:\d\d)\.$/, "$1");

/** Whether what arrived is the value that the database writes as a text. */
export function isSame(kind: Kind, text: string | null, arrived: unknown): boolean {
  if (text === null || arrived === null)
    return arrived === null && (text === null || (kind === "json" && text === "null"));
  const source = numberSource(arrived);
  switch (kind) {
    case "number":
      return source !== undefined && exactNumber(source) === exactNumber(text);
    case "double":
      return source !== undefined && Number(source) === Number(text);
    case "single":
      return source !== undefined && isSingle(source, Number(text));
    case "singles": {
      const written = parseWritten(text) as string[];
      const items = arrived as unknown[];
      return (
        Array.isArray(arrived) &&
        items.length === written.length &&
        items.every((item, index) => isSame("single", numberSource(written[index])!, item))
      );
    }
    case "boolean":
      return /^(t|true|1)$/.test(text)
        ? arrived === true || source === "1"
        : arrived === false || source === "0";
    case "text":
    case "digits":
      return arrived === text || (source !== undefined && source === text);
    case "bytes":
      return (
        typeof arrived === "string" && Buffer.from(arrived, "base64").toString("hex") === text.toLowerCase()
      );
    case "json":
      return canonical(arrived) === canonical(parseWritten(text));
    case "time":
      return typeof arrived === "string" && canonicalTime(arrived) === canonicalTime(text);
  }
}

/** Whether two texts of a database are the same value. JSON may have other spaces, and a number other zeros at its end. */
export function isSameText(kind: Kind, before: string | null | undefined, after: string | null): boolean {
  if (typeof before !== "string" || before === after) return before === after;
  if (after === null) return isDocumentedNull(kind, before, after);
  if (kind === "number" || kind === "digits") return exactNumber(before) === exactNumber(after);
  return kind === "json" && canonical(parseWritten(before)) === canonical(parseWritten(after));
}
