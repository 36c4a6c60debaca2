/** Removes secrets from responses, because a server may echo what it was sent. */

/** Minimum length of an encoded form that is masked, in characters. Shorter ones would appear in unrelated text. */
const SHORTEST_PIECE = 8;
const MASK = "***";

export interface Masker {
  text(text: string): string;
  /** Masks a JSON value, including its keys and numbers. */
  json(value: unknown): unknown;
}

/**
 * Creates a masker for `secrets`. It finds them in upper and lower case, as base64 at any offset, base64url, hex, escaped for
 * URLs and JSON, and the same in UTF-16. Mask text before you cut it, because half a secret is not found.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .toSorted((a, b) => b.length - a.length)
    .map((form) => new RegExp(form.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "gi"));
  const text = (value: string): string => {
    let masked = value;
    for (const form of forms) masked = masked.replace(form, MASK);
    return masked;
  };
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(String(value)) === String(value) ? value : MASK;
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  };
  return { text, json: forms.length === 0 ? (value) => value : json };
}

function formsOf(secret: string): string[] {
  if (secret === "") return [];
  const bytes = Buffer.from(secret);
  const wide = Buffer.from(secret, "utf16le");
  const escaped = encodeURIComponent(secret.toWellFormed());
  const encoded = [
    ...base64Pieces(bytes),
    ...base64Pieces(wide),
    bytes.toString("hex"),
    wide.toString("hex"),
    // UTF-16 of either byte order, decoded as one byte per character.
    wide.toString("latin1").replace(/\0$/, ""),
    escaped,
    escaped.replaceAll("%20", "+"),
    new URLSearchParams([["", secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ];
  return [secret, ...encoded.filter((form) => form.length >= SHORTEST_PIECE)];
}

/** The parts of a secret's base64 that do not depend on the text around it, for each of the three offsets. */
function base64Pieces(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const stable = padded
      .toString("base64")
      .slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
    return [stable, stable.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
