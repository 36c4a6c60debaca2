/** Generated from src/web/messages/de/values.json by `npm run generate`. Edit that file instead. */
import { formatNumber, pluralForm } from "../../format.ts";

export const chartTitle = ({ kind, series, xAxis, count }: { kind: "bar" | "line"; series: string | number; xAxis: string | number; count: string | number }): string =>
  `${(kind === "bar" ? "Balkendiagramm" : "Liniendiagramm")} von ${series} nach ${xAxis}, ${count} Zeilen.`;
export const noValues = ({ series }: { series: string | number }): string =>
  `${series}: keine Werte.`;
export const rangeOf = ({ series, min, minAt, max, maxAt }: { series: string | number; min: string | number; minAt: string | number; max: string | number; maxAt: string | number }): string =>
  `${series}: von ${min} (${minAt}) bis ${max} (${maxAt}).`;
export const tableHasAll = "Die Tabelle enthält alle Werte.";
export const noValue = "Kein Wert aufgezeichnet.";
export const emptyString = "Leere Zeichenkette.";
export const emptyList = "Leere Liste.";
export const emptyObject = "Leeres Objekt.";
export const download = "Herunterladen";
export const csv = "CSV";
export const json = "JSON";
export const copyFailed = ({ label }: { label: string | number }): string =>
  `Kopieren nicht möglich: ${label}`;
export const copyNeedsHttps = "Der Browser erlaubt das Kopieren nur über HTTPS. Laden Sie den Wert stattdessen herunter.";
export const copied = "Kopiert";
export const copyJson = "Als JSON kopieren";
export const longString = ({ beginning, count }: { beginning: string | number; count: number }): string =>
  `${beginning}… (${formatNumber(count)} Zeichen)`;
export const expand = "Ausklappen";
export const collapse = "Einklappen";
export const asJson = ({ label }: { label: string | number }): string =>
  `${label} als JSON`;
export const rightAxis = ({ label }: { label: string | number }): string =>
  `${label} (rechte Achse)`;
export const rowsOf = ({ label }: { label: string | number }): string =>
  `Zeilen: ${label}`;
export const firstColumns = ({ shown, total }: { shown: string | number; total: string | number }): string =>
  `Die ersten ${shown} von ${total} Spalten. JSON und Download enthalten alle.`;
export const rowRange = ({ first, last }: { first: number; last: number }): string =>
  `Zeilen ${formatNumber(first)} bis ${formatNumber(last)}`;
export const page = ({ page }: { page: string | number }): string =>
  `Seite ${page}`;
export const pageControl = ({ control }: { control: "first" | "last" | "next" | "previous" }): string =>
  (control === "first" ? "erste Seite" : control === "previous" ? "vorherige Seite" : control === "next" ? "nächste Seite" : "letzte Seite");
export const emptyCell = "leer";
export const longCell = ({ count }: { count: number }): string =>
  `${formatNumber(count)} Zeichen; vollständig im JSON`;
export const part = ({ part, parts, count }: { part: string | number; parts: string | number; count: number }): string =>
  `Teil ${part} von ${parts} · ${formatNumber(count)} Zeichen`;
export const partNumber = ({ part }: { part: string | number }): string =>
  `Teil ${part}`;
export const partControl = ({ control }: { control: "first" | "last" | "next" | "previous" }): string =>
  (control === "first" ? "erster Teil" : control === "previous" ? "vorheriger Teil" : control === "next" ? "nächster Teil" : "letzter Teil");
export const preview = "Vorschau";
export const firstCharacters = ({ shown, total, size }: { shown: number; total: number; size: string | number }): string =>
  `Die ersten ${formatNumber(shown)} von ${formatNumber(total)} Zeichen. Gesamter Wert: ${size}.`;
export const firstItems = ({ lists, size }: { lists: string | number; size: string | number }): string =>
  `Die ersten Elemente aus ${lists}. Gesamter Wert: ${size}.`;
export const loadFull = "Gesamten Wert laden";
export const loadingSize = ({ size }: { size: string | number }): string =>
  `${size} werden geladen …`;
export const wholeList = ({ count }: { count: number }): string =>
  `der Liste (${formatNumber(count)})`;
export const table = "Tabelle";
export const chart = "Diagramm";
export const text = "Text";
export const viewsOf = ({ label }: { label: string | number }): string =>
  `Ansichten: ${label}`;
export const rowCount = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${formatNumber(count)} Zeile` : `${formatNumber(count)} Zeilen`);
export const firstRows = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? "Die erste Zeile" : `Die ersten ${formatNumber(count)} Zeilen`)}. Die Abfrage lieferte mehr, als das Limit des Schritts erlaubt.`;
export const rowsChanged = ({ count }: { count: number }): string =>
  `${(pluralForm(count) === "one" ? `${formatNumber(count)} Zeile` : `${formatNumber(count)} Zeilen`)} geändert.`;
export const noRows = "Keine Zeilen.";
export const noRowsOf = ({ columns }: { columns: string | number }): string =>
  `Keine Zeilen. Spalten: ${columns}.`;
