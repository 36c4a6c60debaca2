/** Reads the text of PostgreSQL's arrays. (postgresql.org/docs/current/arrays.html#ARRAYS-IO) */

/** The lower and upper bounds of each dimension, where a lower one is not 1. A list has no place for them. */
const BOUNDS = /^(?:\[[+-]?\d+:[+-]?\d+\])+=/;

/**
 * @param delimiter the character between elements: a comma, for almost all types
 * @param toJson converts the text of an element that is not null
 * @returns the elements; lists of lists for several dimensions
 */
export function parsePgArray(
  source: string,
  delimiter: string,
  toJson: (element: string) => unknown,
): unknown[] {
  let at = (BOUNDS.exec(source)?.[0].length ?? 0) + 1;

  function quoted(): string {
    let text = "";
    for (at += 1; source[at] !== '"'; at += 1) {
      if (source[at] === "\\") at += 1;
      if (at >= source.length) throw new SyntaxError("An array of PostgreSQL ends in an element.");
      text += source[at];
    }
    at += 1;
    return text;
  }

  function plain(): string {
    const start = at;
    while (at < source.length && source[at] !== delimiter && source[at] !== "}") at += 1;
    return source.slice(start, at);
  }

  /** Begins behind the opening brace and ends behind the closing one. PostgreSQL has six dimensions at most. */
  function list(): unknown[] {
    const elements: unknown[] = [];
    while (source[at] !== "}") {
      if (at >= source.length) throw new SyntaxError("An array of PostgreSQL has no end.");
      if (source[at] === "{") {
        at += 1;
        elements.push(list());
      } else if (source[at] === '"') elements.push(toJson(quoted()));
      else {
        const element = plain();
        elements.push(element === "NULL" ? null : toJson(element));
      }
      if (source[at] === delimiter) at += 1;
    }
    at += 1;
    return elements;
  }

  return list();
}
