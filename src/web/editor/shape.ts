/** Parses the output shape that validation reports, `{rows: [{region: text}], row_count: number}`, even when truncated. */

export interface OutputShape {
  /** The source text. */
  text: string;
  fields?: Readonly<Record<string, OutputShape>>;
  element?: OutputShape;
}

export function parseShape(text: string): OutputShape {
  return parseValue({ text, at: 0 });
}

interface Reader {
  readonly text: string;
  at: number;
}

function parseValue(reader: Reader): OutputShape {
  const start = reader.at;
  const first = reader.text[start];
  const inner: Omit<OutputShape, "text"> =
    first === "{" ? parseFields(reader) : first === "[" ? parseList(reader) : {};
  while (reader.at < reader.text.length && !",}]".includes(reader.text[reader.at]!)) reader.at += 1;
  return { text: reader.text.slice(start, reader.at), ...inner };
}

function parseFields(reader: Reader): Pick<OutputShape, "fields"> {
  const found: Record<string, OutputShape> = {};
  reader.at += 1;
  while (reader.at < reader.text.length && reader.text[reader.at] !== "}") {
    const name = /^[\s,]*([^:{}[\],]+):\s*/.exec(reader.text.slice(reader.at, reader.at + 300));
    if (name === null) return { fields: found };
    reader.at += name[0].length;
    const value = parseValue(reader);
    if (name[1] !== "…") found[name[1]!] = value;
  }
  reader.at += 1;
  return { fields: found };
}

function parseList(reader: Reader): Pick<OutputShape, "element"> {
  reader.at += 1;
  const element = parseValue(reader);
  reader.at += 1;
  return { element };
}

/** The fields that can follow `rows[0].` in a shape, each with its shape as text. */
export function fieldsAt(root: OutputShape, chain: readonly string[]): [name: string, shape: string][] {
  let current: OutputShape | undefined = root;
  for (const part of chain) {
    const [name, ...indexes] = part.split("[");
    current = current?.fields?.[name!];
    for (let depth = 0; depth < indexes.length; depth += 1) current = current?.element;
  }
  return Object.entries(current?.fields ?? {}).map(([name, { text }]) => [
    name,
    text.length > 40 ? `${text.slice(0, 39)}…` : text,
  ]);
}
