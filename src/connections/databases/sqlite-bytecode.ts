/**
 * Finds out from the program of a SQLite statement whether it compares a parameter where a number and a text differ. SQLite orders
 * every number before every text, and converts neither unless the other operand has the affinity of a column or of a CAST. The
 * program says which affinity each comparison has. (sqlite.org/opcode.html, sqlite.org/datatype3.html; child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";

interface Instruction {
  addr: number;
  opcode: string;
  p1: number;
  p2: number;
  p3: number;
  p4: string | null;
  p5: number;
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

const COMPARISONS = setOf("Eq Ne Lt Le Gt Ge");
/** Compare `p4` registers from `p3` on with a key of an index. With no `p4` the key is a rowid, or a record. */
const SEEKS = setOf(
  "SeekGT SeekGE SeekLT SeekLE IdxGT IdxGE IdxLT IdxLE Found NotFound IfNoHope Filter FilterAdd",
);
/** Take an integer, and convert a text to one. */
const ROWID_SEEKS = setOf("SeekGT SeekGE SeekLT SeekLE");
const INSERTS = setOf("Insert IdxInsert SorterInsert");
const FUNCTIONS = setOf("Function PureFunc");
/** Convert operands to numbers, to texts or to truth values, and write register `p3`. */
const CALCULATIONS = setOf(
  "Add Subtract Multiply Divide Remainder BitAnd BitOr ShiftLeft ShiftRight Concat And Or",
);
/** Functions that compare values of two types. */
const COMPARING = /^(?:max|min|nullif)\(/;
/** Write register `p2`, and read none that the type of a value decides. */
const WRITE_P2 = setOf(
  "Variable IntCopy SCopy Copy Move Not BitNot IsTrue ZeroOrNull Param Integer Int64 Real String String8 Blob Null Rowid IdxRowid NewRowid Sequence Count ReadCookie",
);
/** Write a value that is no parameter. */
const CONSTANTS = setOf(
  "Integer Int64 Real String String8 Blob Null SoftNull Rowid IdxRowid NewRowid Sequence Count ReadCookie",
);
/** Compare nothing: they open cursors, move them, branch, write rows, and check stored rows. */
const HARMLESS = setOf(
  "Init Transaction Goto Gosub Return Once BeginSubrtn InitCoroutine EndCoroutine Yield Noop Explain Halt HaltIfNull Close NullRow " +
    "OpenRead OpenWrite ReopenIdx OpenEphemeral OpenAutoindex OpenPseudo OpenDup SorterOpen SorterSort Sort SorterNext SorterData ResetSorter " +
    "Rewind Last Next Prev DeferredSeek FinishSeek SeekRowid NotExists SeekScan SeekHit SeekEnd NoConflict IfEmpty IfNullRow IfSizeBetween " +
    "If IfNot IsNull NotNull IfPos IfNotZero DecrJumpZero MustBeInt RealAffinity OffsetLimit AddImm Jump CollSeq ColumnsUsed SoftNull " +
    "Delete IdxDelete Clear FkCheck FkCounter FkIfZero Program TypeCheck ResetCount Expire TableLock ReleaseReg ResultRow AggFinal " +
    "MemMax RowSetAdd RowSetRead RowSetTest VOpen VColumn VNext VUpdate VBegin",
);
const JUMPS = setOf(
  "Goto Gosub InitCoroutine Once Rewind Last Sort SorterSort Next Prev SorterNext SeekRowid NotExists SeekGT SeekGE SeekLT SeekLE " +
    "IdxGT IdxGE IdxLT IdxLE Found NotFound NoConflict IfNoHope Filter If IfNot IsNull NotNull IfPos IfNotZero DecrJumpZero IfNullRow Yield " +
    "Eq Ne Lt Le Gt Ge",
);

/** Affinities: of text, numeric, integer, real and any number. A (or @) converts nothing. */
const isTyped = (affinity: string | undefined): boolean => affinity !== undefined && affinity > "A";
const AFFINITY_MASK = 0x47;

/**
 * @param parameters the numbers of the parameters, from 1 on
 * @returns false only if each of the parameters is converted before it is compared, or compared with nothing
 */
export function mayCompareUntyped(db: DatabaseSync, text: string, parameters: ReadonlySet<number>): boolean {
  const listed = db.prepare(`EXPLAIN ${text}`).all() as unknown as Instruction[];
  // The programs of triggers follow. They see values as the columns of the table store them.
  const end = listed.findIndex(({ addr }, index) => addr !== index);
  return traceParameters(end === -1 ? listed : listed.slice(0, end), parameters);
}

/** Follows the parameters through registers, and through the columns of sorters and temporary tables. */
function traceParameters(program: readonly Instruction[], parameters: ReadonlySet<number>): boolean {
  const keyColumns = new Map<number, number>();
  const stored = new Set<number>();
  const alias = new Map<number, number>();
  for (const { opcode, p1, p2, p3, p4 } of program) {
    if (opcode === "SorterOpen" || opcode === "OpenEphemeral")
      keyColumns.set(p1, Number(/^k\((\d+)/.exec(p4 ?? "")?.[1] ?? 0));
    else if (opcode === "OpenWrite") stored.add(p1);
    else if (opcode === "SorterData") alias.set(p3, p1);
    else if (opcode === "OpenDup") alias.set(p1, p2);
  }
  const registers = new Set<number>();
  /** The fields of a record that hold a parameter, by the register of the record. */
  const records = new Map<number, Set<number>>();
  const columns = new Set<string>();
  const column = (cursor: number, field: number): string => `${alias.get(cursor) ?? cursor}.${field}`;
  const isOpen = (register: number, at: number): boolean =>
    registers.has(register) && !isConverted(program, register, at);
  const isAnyOpen = (first: number, count: number, at: number): boolean =>
    Array.from({ length: count }, (_, index) => first + index).some((register) => isOpen(register, at));

  /** Adds what an instruction passes on. Returns whether it compares a parameter, or is unknown. */
  function visit({ opcode, p1, p2, p3, p4, p5 }: Instruction, at: number): boolean {
    if (opcode === "Variable") {
      if (parameters.has(p1) && !isCastNext(program[at + 1], p2)) registers.add(p2);
    } else if (opcode === "Copy" || opcode === "Move" || opcode === "SCopy") {
      const count = opcode === "SCopy" ? 1 : opcode === "Copy" ? p3 + 1 : p3;
      for (let index = 0; index < count; index += 1) if (isOpen(p1 + index, at)) registers.add(p2 + index);
    } else if (opcode === "Column") {
      if (columns.has(column(p1, p2))) registers.add(p3);
    } else if (opcode === "MakeRecord") {
      const fields = Array.from({ length: p2 }, (_, field) => field).filter(
        (field) => !isTyped(p4?.[field]) && isOpen(p1 + field, at),
      );
      if (fields.length > 0) records.set(p3, new Set([...(records.get(p3) ?? []), ...fields]));
    } else if (INSERTS.has(opcode)) {
      const fields = records.get(p2);
      if (fields === undefined || stored.has(p1)) return false;
      const keys = keyColumns.get(p1);
      for (const field of fields) {
        if (keys === undefined || field < keys) return true;
        columns.add(column(p1, field));
      }
    } else if (COMPARISONS.has(opcode)) {
      return (p5 & AFFINITY_MASK) < 0x42 && (isOpen(p1, at) || isOpen(p3, at));
    } else if (SEEKS.has(opcode)) {
      const count = Number(p4 ?? 0);
      if (count === 0) return !ROWID_SEEKS.has(opcode) && (records.has(p3) || isOpen(p3, at));
      return isAnyOpen(p3, count, at);
    } else if (opcode === "Compare") {
      return isAnyOpen(p1, p3, at) || isAnyOpen(p2, p3, at);
    } else if (opcode === "VFilter") {
      // The number of arguments is in the register before them.
      const counts = program.filter((one) => one.opcode === "Integer" && one.p2 === p3 + 1);
      return counts.length === 0 || isAnyOpen(p3 + 2, Math.max(...counts.map((one) => one.p1)), at);
    } else if (FUNCTIONS.has(opcode) || opcode === "AggStep") {
      // A function with any number of arguments does not say how many it has.
      const count = Number(/\((-?\d+)\)$/.exec(p4 ?? "")?.[1] ?? -1);
      const isUsed =
        count >= 0
          ? isAnyOpen(p2, count, at)
          : [...registers].some((register) => register >= p2 && isOpen(register, at));
      if (isUsed && COMPARING.test(p4 ?? "")) return true;
      if (isUsed) registers.add(p3);
    } else
      return !(
        WRITE_P2.has(opcode) ||
        CALCULATIONS.has(opcode) ||
        HARMLESS.has(opcode) ||
        opcode === "Affinity" ||
        opcode === "Cast"
      );
    return false;
  }

  // Until nothing is added: subroutines and loops run instructions in another order.
  for (;;) {
    const size = (): number =>
      registers.size + columns.size + [...records.values()].reduce((sum, fields) => sum + fields.size, 0);
    const before = size();
    if (program.some(visit)) return true;
    if (size() === before) return false;
  }
}

const isCastNext = (next: Instruction | undefined, register: number): boolean =>
  next?.opcode === "Cast" && next.p1 === register && isTyped(String.fromCharCode(next.p2));

/** Whether the last instruction that wrote a register before this one left no value in it that lacks an affinity. */
function isConverted(program: readonly Instruction[], register: number, at: number): boolean {
  for (let index = at - 1; index >= 0; index -= 1) {
    const instruction = program[index]!;
    if (instruction.opcode === "Yield" || instruction.opcode === "Gosub") return false;
    const isWritten = mayWrite(instruction, register);
    if (isWritten ? CONSTANTS.has(instruction.opcode) : isConversion(instruction, register))
      return !isBypassed(program, register, index, at);
    if (isWritten) return false;
  }
  return false;
}

const isConversion = ({ opcode, p1, p2, p4 }: Instruction, register: number): boolean =>
  (opcode === "Affinity" && register >= p1 && register < p1 + p2 && isTyped(p4?.[register - p1])) ||
  (opcode === "Cast" && p1 === register && isTyped(String.fromCharCode(p2))) ||
  // It fails with any other value unless it jumps.
  (opcode === "MustBeInt" && p1 === register && p2 === 0);

/** Whether a jump passes over the conversion, or comes back to behind it after another write. */
const isBypassed = (
  program: readonly Instruction[],
  register: number,
  converted: number,
  at: number,
): boolean =>
  program.some(
    ({ opcode, p2 }, index) =>
      JUMPS.has(opcode) &&
      p2 > converted &&
      p2 <= at &&
      (index < converted ||
        (index > at && program.slice(at, index).some((instruction) => mayWrite(instruction, register)))),
  );

function mayWrite({ opcode, p1, p2, p3 }: Instruction, register: number): boolean {
  if (opcode === "Copy") return register >= p2 && register <= p2 + p3;
  if (opcode === "Move") return register >= p2 && register < p2 + p3;
  if (opcode === "Null") return register === p2 || (register > p2 && register <= p3);
  if (WRITE_P2.has(opcode)) return register === p2;
  if (opcode === "SoftNull" || opcode === "AggFinal") return register === p1;
  return (
    (opcode === "Column" ||
      opcode === "VColumn" ||
      opcode === "AggStep" ||
      FUNCTIONS.has(opcode) ||
      CALCULATIONS.has(opcode)) &&
    register === p3
  );
}
