/**
 * Finds out from the program of a SQLite statement whether it makes a double of a parameter whose number a double does not hold: for a
 * column with the affinity of numbers, for a comparison with one, or to calculate with it. Only a CAST in the query says that this
 * is wanted. (sqlite.org/opcode.html, sqlite.org/datatype3.html; child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";
import { COMPARISONS, CALCULATIONS, FUNCTIONS, ROWID_SEEKS, setOf } from "./sqlite-opcodes.ts";
import { type Instruction, traceParameters, type Uses, type Watch } from "./sqlite-program.ts";

/** What SQLite holds instead of a number: a text of all its digits, or an integer. */
export type InexactKind = "text" | "integer";

/** Affinities of numbers: numeric, integer, real and any number. (sqliteInt.h: SQLITE_AFF_NUMERIC and those after it) */
const isNumeric = (affinity: string | undefined): boolean => affinity !== undefined && affinity >= "C";
/** An integer stays one for each of the others. */
const isReal = (affinity: string | undefined): boolean => affinity === "E";
const AFFINITY_MASK = 0x47;
const FIRST_NUMERIC = 0x43;

/** Calculations that take a text as a text or as a truth value. */
const NOT_CALCULATING = setOf("Concat And Or");
/** Functions that calculate with a number. */
const CALCULATING =
  /^(?:abs|round|sum|avg|total|ceil|ceiling|floor|trunc|sign|mod|pow|power|sqrt|exp|ln|log|log2|log10|a?(?:sin|cos|tan)h?|atan2|degrees|radians|median|percentile(?:_cont|_disc)?)\(/;
/** Functions whose result is another number than an argument, or no number: it has none of its digits, some of them, or more. */
const OTHER_NUMBER =
  /^(?:length|octet_length|hex|typeof|instr|unicode|like|glob|count|random|substr|substring|replace|quote|(?:date|time|datetime|strftime|julianday|unixepoch|timediff)|json_(?:valid|type|array_length|array|object|group_array|group_object))\(/;

/**
 * @param parameters their numbers, from 1 on
 * @param kind that of each of them
 * @returns whether the statement may make a double of one of the parameters, and no CAST of the query says so
 */
export function mayRoundParameters(
  db: DatabaseSync,
  program: readonly Instruction[],
  parameters: ReadonlySet<number>,
  kind: InexactKind,
): boolean {
  const rounds = kind === "text" ? isNumeric : isReal;
  return traceParameters(program, parameters, {
    closes: numericCastOf,
    closesField: () => false,
    passes: ({ opcode, p4 }) => (FUNCTIONS.has(opcode) ? !OTHER_NUMBER.test(p4 ?? "") : opcode === "Concat"),
    finds: (instruction, uses) =>
      isStoring(db, instruction, uses, rounds) || (kind === "text" && isCalculating(instruction, uses)),
  });
}

const numericCastOf: Watch["closes"] = ({ opcode, p1, p2 }) =>
  opcode === "Cast" && isNumeric(String.fromCharCode(p2)) ? [p1] : [];

/** Whether an instruction converts a parameter for a column. */
function isStoring(
  db: DatabaseSync,
  { opcode, p1, p2, p3, p4 }: Instruction,
  { isOpen }: Uses,
  rounds: (affinity: string | undefined) => boolean,
): boolean {
  const affinities =
    opcode === "Affinity" || opcode === "MakeRecord"
      ? (p4 ?? "")
      : opcode === "TypeCheck"
        ? strictAffinities(db, p4!, p3)
        : "";
  for (let index = 0; index < Math.min(p2, affinities.length); index += 1)
    if (rounds(affinities[index]) && isOpen(p1 + index)) return true;
  return false;
}

/** @param type a type of STRICT tables, in capitals */
const affinityOf = (type: string): string => (type === "REAL" ? "E" : type.startsWith("INT") ? "D" : "A");

/**
 * The affinities of the registers that a check of the types of a STRICT table converts.
 * @param which from 2 on, the column that is checked alone, counted from 2
 */
function strictAffinities(db: DatabaseSync, table: string, which: number): string {
  const columns = db
    .prepare("SELECT upper(type) AS type, hidden FROM pragma_table_xinfo(?) ORDER BY cid")
    .all(table) as { type: string; hidden: number }[];
  if (which > 1) return affinityOf(columns[which - 2]?.type ?? "");
  // Virtual columns have no register.
  return columns.flatMap(({ type, hidden }) => (hidden === 2 ? [] : affinityOf(type))).join("");
}

/** Whether an instruction takes a text for the number that it writes. */
function isCalculating({ opcode, p1, p2, p3, p4, p5 }: Instruction, uses: Uses): boolean {
  const { isOpen, hasOpenArgument } = uses;
  if (COMPARISONS.has(opcode)) return (p5 & AFFINITY_MASK) >= FIRST_NUMERIC && (isOpen(p1) || isOpen(p3));
  if (ROWID_SEEKS.has(opcode)) return Number(p4 ?? 0) === 0 && isOpen(p3);
  if (opcode === "SeekRowid" || opcode === "NotExists") return isOpen(p3);
  if (opcode === "MustBeInt" || opcode === "BitNot") return isOpen(p1);
  if (CALCULATIONS.has(opcode)) return !NOT_CALCULATING.has(opcode) && (isOpen(p1) || isOpen(p2));
  return FUNCTIONS.has(opcode) && CALCULATING.test(p4 ?? "") && hasOpenArgument();
}
