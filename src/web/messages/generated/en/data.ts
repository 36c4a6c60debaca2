/** Generated from src/web/messages/en/data.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const noDatabasesTitle = "No databases";
export const noDatabases = "Ask the operator to configure one, or an admin to grant one to the project.";
export const database = "Database";
export const databaseOption = ({ name, type, access }: { name: string | number; type: string | number; access: "readOnly" | "readWrite" }): string =>
  `${name} (${type}, ${(access === "readOnly" ? "read-only" : "read-write")})`;
export const unusable = "This database can’t be used now";
export const find = "Find a table or column";
export const noTables = "This database has no tables.";
export const tableCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} table` : `${count} tables`);
export const foundTables = ({ found, total }: { found: string | number; total: number }): string =>
  `${found} of ${total} tables`;
export const moreTables = "The database has more tables than are listed. To see another one, write its exact name above.";
export const loadTable = "Load the table";
export const loadNamed = ({ name }: { name: string | number }): string =>
  `Load ${name}`;
export const noSuchDatabase = "There is no such database.";
export const insertName = "Insert the name at the cursor";
export const insertNamed = ({ name }: { name: string | number }): string =>
  `Insert ${name}`;
export const addStep = "Add a step that reads the table";
export const addStepNamed = ({ name }: { name: string | number }): string =>
  `Add a step that reads ${name}`;
export const kind = ({ kind }: { kind: string }): string =>
  (kind === "view" ? "view" : `${kind}`);
export const rowCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} row` : `${formatNumber(count)} rows`);
export const columnsOf = ({ name }: { name: string | number }): string =>
  `Columns of ${name}`;
export const nullableColumn = ({ type }: { type: string | number }): string =>
  `${type}, nullable`;
export const showSample = "Show sample rows";
export const noRows = "No rows.";
