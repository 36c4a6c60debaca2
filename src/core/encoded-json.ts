/** A JSON value as text: written once, then measured, stored and passed on without being parsed again. */
export class EncodedJson {
  readonly text: string;
  /** @param text the JSON of a value */
  constructor(text: string) {
    this.text = text;
  }
}

/** Undefined becomes null. */
export const encodeJson = (value: unknown): EncodedJson =>
  value instanceof EncodedJson ? value : new EncodedJson(JSON.stringify(value ?? null));

/** Encodes an object, of whose fields some may be encoded already. Undefined fields are left out, as by JSON.stringify. */
export function encodeFields(fields: Readonly<Record<string, unknown>>): EncodedJson {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const text = value instanceof EncodedJson ? value.text : JSON.stringify(value);
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return new EncodedJson(`{${parts.join(",")}}`);
}
