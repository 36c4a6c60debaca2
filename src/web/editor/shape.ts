/** Reads what validation says of a step's output, `{rows: [{region: text}], row_count: number}`, cut off or not. */

export interface OutputShape {
  /** As it is written. */
  text: string;
  fields?: Readonly<Record<string, OutputShape>>;
  element?: OutputShape;
}

export function parseShape(text: string): OutputShape {
  return shape({ text, at: 0 });
}

interface Reader {
  readonly text: string;
  at: number;
}

function shape(reader: Reader): OutputShape {
  const start = reader.at;
  const first = reader.text[start];
  const inner: Omit<OutputShape, "text"> = first === "{" ? fields(reader) : first === "[" ? list(reader) : {};
  while (reader.at < reader.text.length && !",}]".includes(reader.text[reader.at]!)) reader.at += 1;
  return { text: reader.text.slice(start, reader.at), ...inner };
}

function fields(reader: Reader): Pick<OutputShape, "fields"> {
  const found: Record<string, OutputShape> = {};
  reader.at += 1;
  while (reader.at < reader.text.length && reader.text[reader.at] !== "}") {
    const name = /^[\s,]*([^:{}[\],]+):\s*/.exec(reader.text.slice(reader.at, reader.at + 300));
    if (name === null) return { fields: found };
    reader.at += name[0].length;
    const value = shape(reader);
    if (name[1] !== "…") found[name[1]!] = value;
  }
  reader.at += 1;
  return { fields: found };
}

function list(reader: Reader): Pick<OutputShape, "element"> {
  reader.at += 1;
  const element = shape(reader);
  reader.at += 1;
  return { element };
}

/** The fields that can follow `rows[0].` in a shape, each with what it is. */
export function fieldsAt(root: OutputShape, chain: readonly string[]): [name: string, what: string][] {
  let here: OutputShape | undefined = root;
  for (const part of chain) {
    const [name, ...indexes] = part.split("[");
    here = here?.fields?.[name!];
    for (let depth = 0; depth < indexes.length; depth += 1) here = here?.element;
  }
  return Object.entries(here?.fields ?? {}).map(([name, { text }]) => [
    name,
    text.length > 40 ? `${text.slice(0, 39)}…` : text,
  ]);
}
