/** Writes the names of tables and columns as SQL needs them. */

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words that can't be the name of a table or column without quotes, in at least one of the databases. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "all alter and any as asc between both by case cast check collate column constraint create cross current_date " +
    "current_time current_timestamp default delete desc distinct drop else end except exists false fetch for foreign " +
    "from full grant group having in index inner insert intersect into is join key leading left like limit natural not " +
    "null offset on or order outer primary references right select set some table then to trailing true union unique " +
    "update user using values view when where window with"
  ).split(" "),
);

/**
 * @param type the type of the database; MySQL and MariaDB quote with backticks
 * @returns the name as it stands in a statement, quoted where it has to be; each part of `schema.table` on its own
 */
export function sqlName(name: string, type: string): string {
  return name
    .split(".")
    .map((part) => sqlIdentifier(part, type))
    .join(".");
}

/** Like `sqlName`, for a name without a schema: a dot is a part of it. */
export function sqlIdentifier(part: string, type: string): string {
  // PostgreSQL folds unquoted names to lower case.
  const isFolded = type === "postgresql" && part !== part.toLowerCase();
  if (PLAIN.test(part) && !isFolded && !RESERVED.has(part.toLowerCase())) return part;
  const quote = type === "mysql" || type === "mariadb" ? "`" : '"';
  return `${quote}${part.replaceAll(quote, quote + quote)}${quote}`;
}

/** Maximum number of columns that a new query names; a wider table is selected with an asterisk. */
const MAX_NAMED_COLUMNS = 12;
/** Number of rows that a new query reads, so that it does not fail on a large table. */
const FIRST_ROWS = 100;

/** @returns a query for the first rows of a table, in several lines */
export function selectOf(
  table: { name: string; columns: readonly { name: string }[] },
  type: string,
): string {
  const { columns } = table;
  const listed =
    columns.length === 0 || columns.length > MAX_NAMED_COLUMNS
      ? "*"
      : columns.map(({ name }) => sqlIdentifier(name, type)).join(", ");
  return `SELECT ${listed}\nFROM ${sqlName(table.name, type)}\nLIMIT ${FIRST_ROWS}\n`;
}
