/** Generated from src/web/messages/de/data.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const noDatabasesTitle = "Keine Datenbanken";
export const noDatabases = "Bitten Sie den Betreiber, eine Datenbank zu konfigurieren, oder einen Admin, eine für das Projekt freizugeben.";
export const database = "Datenbank";
export const databaseOption = ({ name, type, access }: { name: string | number; type: string | number; access: "readOnly" | "readWrite" }): string =>
  `${name} (${type}, ${(access === "readOnly" ? "nur lesen" : "lesen und schreiben")})`;
export const unusable = "Diese Datenbank ist derzeit nicht nutzbar";
export const find = "Tabelle oder Spalte suchen";
export const noTables = "Diese Datenbank hat keine Tabellen.";
export const tableCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} Tabelle` : `${count} Tabellen`);
export const foundTables = ({ found, total }: { found: string | number; total: number }): string =>
  `${found} von ${(pluralForm(total) === "one" ? `${total} Tabelle` : `${total} Tabellen`)}`;
export const moreTables = "Die Datenbank hat mehr Tabellen als aufgelistet. Um eine weitere zu sehen, geben Sie oben ihren genauen Namen ein.";
export const loadTable = "Tabelle laden";
export const loadNamed = ({ name }: { name: string | number }): string =>
  `${name} laden`;
export const noSuchDatabase = "Diese Datenbank gibt es nicht.";
export const insertName = "Namen am Cursor einfügen";
export const insertNamed = ({ name }: { name: string | number }): string =>
  `${name} einfügen`;
export const addStep = "Schritt hinzufügen, der die Tabelle liest";
export const addStepNamed = ({ name }: { name: string | number }): string =>
  `Schritt hinzufügen, der ${name} liest`;
export const kind = ({ kind }: { kind: string }): string =>
  (kind === "view" ? "View" : `${kind}`);
export const rowCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Zeile` : `${formatNumber(count)} Zeilen`);
export const columnsOf = ({ name }: { name: string | number }): string =>
  `Spalten von ${name}`;
export const nullableColumn = ({ type }: { type: string | number }): string =>
  `${type}, NULL erlaubt`;
export const showSample = "Beispielzeilen anzeigen";
export const noRows = "Keine Zeilen.";
