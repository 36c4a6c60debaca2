/**
 * Finds out from the program of a SQLite statement whether it compares a parameter where a number and a text differ. SQLite orders
 * every number before every text, and converts neither unless the other operand has the affinity of a column or of a CAST. The
 * program says which affinity each comparison has. (sqlite.org/opcode.html, sqlite.org/datatype3.html; child processes load this file.)
 */
import {
  CALCULATIONS,
  COMPARISONS,
  FUNCTIONS,
  INSERTS,
  isKnownProgram,
  ROWID_SEEKS,
  SEEKS,
} from "./sqlite-opcodes.ts";
import { type Instruction, traceParameters, type Uses, type Watch } from "./sqlite-program.ts";

/** Functions that compare values of two types. */
const COMPARING = /^(?:max|min|nullif)\(/;

/** Affinities: of text, numeric, integer, real and any number. A (or @) converts nothing. */
const isTyped = (affinity: string | undefined): boolean => affinity !== undefined && affinity > "A";
const AFFINITY_MASK = 0x47;

/**
 * @param parameters the numbers of the parameters, from 1 on
 * @returns false only if each of the parameters is converted before it is compared, or compared with nothing
 */
export function mayCompareUntyped(program: readonly Instruction[], parameters: ReadonlySet<number>): boolean {
  if (!isKnownProgram(program)) return true;
  return traceParameters(program, parameters, {
    closes: conversionsOf,
    closesField: isTyped,
    passes: ({ opcode }) => !CALCULATIONS.has(opcode),
    finds: (instruction, uses) => isUntypedComparison(program, instruction, uses),
  });
}

function isUntypedComparison(
  program: readonly Instruction[],
  { opcode, p1, p2, p3, p4, p5 }: Instruction,
  { isOpen, isAnyOpen, hasOpenArgument, fieldsOf, keyFieldsOf, isStored }: Uses,
): boolean {
  if (INSERTS.has(opcode)) {
    const fields = fieldsOf(p2);
    if (fields === undefined || isStored(p1)) return false;
    const keys = keyFieldsOf(p1);
    return keys === undefined || [...fields].some((field) => field < keys);
  }
  if (COMPARISONS.has(opcode)) return (p5 & AFFINITY_MASK) < 0x42 && (isOpen(p1) || isOpen(p3));
  if (SEEKS.has(opcode)) {
    const count = Number(p4 ?? 0);
    if (count === 0) return !ROWID_SEEKS.has(opcode) && (fieldsOf(p3) !== undefined || isOpen(p3));
    return isAnyOpen(p3, count);
  }
  if (opcode === "Compare") return isAnyOpen(p1, p3) || isAnyOpen(p2, p3);
  if (opcode === "VFilter") {
    // The number of arguments is in the register before them.
    const counts = program.filter((one) => one.opcode === "Integer" && one.p2 === p3 + 1);
    return counts.length === 0 || isAnyOpen(p3 + 2, Math.max(...counts.map((one) => one.p1)));
  }
  return FUNCTIONS.has(opcode) && COMPARING.test(p4 ?? "") && hasOpenArgument();
}

const conversionsOf: Watch["closes"] = ({ opcode, p1, p2, p4 }) => {
  if (opcode === "Affinity")
    return Array.from((p4 ?? "").slice(0, p2)).flatMap((affinity, index) =>
      isTyped(affinity) ? p1 + index : [],
    );
  const isOne =
    (opcode === "Cast" && isTyped(String.fromCharCode(p2))) ||
    // It fails with any other value unless it jumps.
    (opcode === "MustBeInt" && p2 === 0);
  return isOne ? [p1] : [];
};
