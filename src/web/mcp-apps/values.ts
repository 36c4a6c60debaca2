/** A value of a run as nodes: rows as a table, text as text, everything else as JSON; each of them shortened. */
import { cellText } from "../../../schemas/csv.ts";
import { classifyValue, formatSize, isTruncated } from "../values/classify-value.ts";
import { cellValue, type ColumnKind, describeRowCount, type Rows } from "../values/rows.ts";
import { h, type ViewNode } from "./nodes.ts";

/** Maximum number of rows and columns of a table. */
const MAX_ROWS = 20;
const MAX_COLUMNS = 12;
/** Maximum length of a cell, in characters. */
const MAX_CELL = 200;
/** Maximum length of a text or of JSON, in characters. */
const MAX_TEXT = 3_000;

/** @param label names the value for readers of the screen */
export function valueNodes(value: unknown, label: string): ViewNode[] {
  if (isTruncated(value))
    return [
      h("p", { class: "dim" }, `The beginning of a value of ${formatSize(value.chars)}:`),
      block(shorten(value.preview, MAX_TEXT), label),
    ];
  const classified = classifyValue(value);
  switch (classified.kind) {
    case "empty":
      return [h("p", { class: "dim" }, classified.text)];
    case "plain":
      return [h("p", {}, h("code", {}, classified.text))];
    case "text":
      return [h("p", { class: "text" }, shorten(classified.text, MAX_TEXT))];
    case "rows":
      return tableNodes(classified.rows, label);
    case "json":
      return [block(shorten(JSON.stringify(classified.json, null, 2), MAX_TEXT), label)];
  }
}

const block = (text: string, label: string): ViewNode =>
  h("pre", { role: "region", label, focusable: true }, text);

function tableNodes(table: Rows, label: string): ViewNode[] {
  const rows = table.rows.slice(0, MAX_ROWS);
  const columns = table.columns.slice(0, MAX_COLUMNS);
  const cut = [
    rows.length < table.rows.length && `the first ${rows.length} rows`,
    columns.length < table.columns.length && `the first ${columns.length} of ${table.columns.length} columns`,
  ].filter((part) => part !== false);
  const count = describeRowCount(table);
  const note = cut.length === 0 ? count : `${count.replace(/\.$/, "")}; shown: ${cut.join(", ")}.`;
  if (rows.length === 0 || columns.length === 0) return [h("p", { class: "dim" }, note)];
  return [
    h(
      "div",
      { class: "scroll", role: "region", label, focusable: true },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map(({ name, kind }) => h("th", { scope: "col", ...classOf(kind) }, name)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              columns.map(({ name, kind }) =>
                h("td", classOf(kind), shorten(cellText(cellValue(row, name)), MAX_CELL)),
              ),
            ),
          ),
        ),
      ),
    ),
    h("p", { class: "dim" }, note),
  ];
}

const classOf = (kind: ColumnKind) => (kind === "number" ? { class: "number" } : {});

const shorten = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
