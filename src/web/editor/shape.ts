/** Reads what validation says of a step's output, `{rows: [{region: text}], row_count: number}`, cut off or not. */

export interface Shape {
  /** As it is written. */
  text: string;
  fields?: Readonly<Record<string, Shape>>;
  of?: Shape;
}

export function readShape(text: string): Shape {
  return shape({ text, at: 0 });
}

interface Reader {
  readonly text: string;
  at: number;
}

function shape(reader: Reader): Shape {
  const start = reader.at;
  const first = reader.text[start];
  const inner: Omit<Shape, "text"> = first === "{" ? fields(reader) : first === "[" ? list(reader) : {};
  while (reader.at < reader.text.length && !",}]".includes(reader.text[reader.at]!)) reader.at += 1;
  return { text: reader.text.slice(start, reader.at), ...inner };
}

function fields(reader: Reader): Pick<Shape, "fields"> {
  const found: Record<string, Shape> = {};
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

function list(reader: Reader): Pick<Shape, "of"> {
  reader.at += 1;
  const of = shape(reader);
  reader.at += 1;
  return { of };
}

/** The fields that can follow `rows[0].` in a shape, each with what it is. */
export function fieldsAt(root: Shape, chain: readonly string[]): [name: string, what: string][] {
  let here: Shape | undefined = root;
  for (const part of chain) {
    const [name, ...indexes] = part.split("[");
    here = here?.fields?.[name!];
    for (let depth = 0; depth < indexes.length; depth += 1) here = here?.of;
  }
  return Object.entries(here?.fields ?? {}).map(([name, { text }]) => [
    name,
    text.length > 40 ? `${text.slice(0, 39)}…` : text,
  ]);
}
