/**
 * Follows the parameters of a SQLite statement through its program: through registers, and through the columns of sorters and temporary
 * tables. (sqlite.org/opcode.html; child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";

export interface Instruction {
  addr: number;
  opcode: string;
  p1: number;
  p2: number;
  p3: number;
  p4: string | null;
  p5: number;
}

/** The parameters at an instruction. */
export interface Uses {
  /** Whether a register may hold a parameter. */
  isOpen(register: number): boolean;
  isAnyOpen(first: number, count: number): boolean;
  /** Whether a function or an aggregate may have a parameter as an argument. */
  hasOpenArgument(): boolean;
  /** The fields with a parameter of the record in a register; undefined if it has none. */
  fieldsOf(record: number): ReadonlySet<number> | undefined;
  /** Number of the first fields by which a temporary table or a sorter compares its records; undefined if it does not. */
  keyFieldsOf(cursor: number): number | undefined;
  /** Whether a cursor is that of a stored table or index. */
  isStored(cursor: number): boolean;
}

/** A question about the parameters of a program. */
export interface Watch {
  /** Whether an instruction converts what is in a register, so that it matters no longer. */
  closes(instruction: Instruction, register: number): boolean;
  /** Whether a record with this affinity of a field converts the field, so that it matters no longer. */
  closesField(affinity: string | undefined): boolean;
  /** Whether a function, an aggregate or a calculation may return its argument, or a text that has it. */
  passes(instruction: Instruction): boolean;
  /** Whether the answer is yes because of this instruction. */
  finds(instruction: Instruction, uses: Uses): boolean;
}

export const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

export const COMPARISONS = setOf("Eq Ne Lt Le Gt Ge");
/** Compare `p4` registers from `p3` on with a key of an index. With no `p4` the key is a rowid, or a record. */
export const SEEKS = setOf(
  "SeekGT SeekGE SeekLT SeekLE IdxGT IdxGE IdxLT IdxLE Found NotFound IfNoHope Filter FilterAdd",
);
/** Take an integer, and convert a text to one. */
export const ROWID_SEEKS = setOf("SeekGT SeekGE SeekLT SeekLE");
export const INSERTS = setOf("Insert IdxInsert SorterInsert");
export const FUNCTIONS = setOf("Function PureFunc AggStep");
/** Convert operands to numbers, to texts or to truth values, and write register `p3`. */
export const CALCULATIONS = setOf(
  "Add Subtract Multiply Divide Remainder BitAnd BitOr ShiftLeft ShiftRight Concat And Or",
);
/** Write register `p2`, and read none that the type of a value decides. */
const WRITE_P2 = setOf(
  "Variable IntCopy SCopy Copy Move Not BitNot IsTrue ZeroOrNull Param Integer Int64 Real String String8 Blob Null Rowid IdxRowid NewRowid Sequence Count ReadCookie",
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
const KNOWN: readonly ReadonlySet<string>[] = [
  setOf("Column MakeRecord Affinity Cast Compare VFilter"),
  COMPARISONS,
  SEEKS,
  INSERTS,
  FUNCTIONS,
  CALCULATIONS,
  WRITE_P2,
  HARMLESS,
];
const JUMPS = setOf(
  "Goto Gosub InitCoroutine Once Rewind Last Sort SorterSort Next Prev SorterNext SeekRowid NotExists SeekGT SeekGE SeekLT SeekLE " +
    "IdxGT IdxGE IdxLT IdxLE Found NotFound NoConflict IfNoHope Filter If IfNot IsNull NotNull IfPos IfNotZero DecrJumpZero IfNullRow Yield " +
    "Eq Ne Lt Le Gt Ge",
);

/** The program of a statement, without those of triggers: they see values as the columns of the table store them. */
export function readProgram(db: DatabaseSync, text: string): Instruction[] {
  const listed = db.prepare(`EXPLAIN ${text}`).all() as unknown as Instruction[];
  const end = listed.findIndex(({ addr }, index) => addr !== index);
  return end === -1 ? listed : listed.slice(0, end);
}

/**
 * @param parameters the numbers of the parameters, from 1 on
 * @returns whether the watch finds one of them, or the program has an unknown instruction
 */
export function traceParameters(
  program: readonly Instruction[],
  parameters: ReadonlySet<number>,
  watch: Watch,
): boolean {
  if (program.some(({ opcode }) => !KNOWN.some((names) => names.has(opcode)))) return true;
  const keyFields = new Map<number, number>();
  const stored = new Set<number>();
  const alias = new Map<number, number>();
  for (const { opcode, p1, p2, p3, p4 } of program) {
    if (opcode === "SorterOpen" || opcode === "OpenEphemeral")
      keyFields.set(p1, Number(/^k\((\d+)/.exec(p4 ?? "")?.[1] ?? 0));
    else if (opcode === "OpenWrite") stored.add(p1);
    else if (opcode === "SorterData") alias.set(p3, p1);
    else if (opcode === "OpenDup") alias.set(p1, p2);
  }
  const registers = new Set<number>();
  /** The instructions that write a parameter to a register. */
  const writers = new Set<number>();
  /** The fields of a record that hold a parameter, by the register of the record. */
  const records = new Map<number, Set<number>>();
  const columns = new Set<string>();
  const column = (cursor: number, field: number): string => `${alias.get(cursor) ?? cursor}.${field}`;
  const isOpen = (register: number, at: number): boolean =>
    registers.has(register) && !isClosed(program, register, at, writers, watch);
  const usesAt = (at: number): Uses => {
    const isAnyOpen = (first: number, count: number): boolean =>
      Array.from({ length: count }, (_, index) => first + index).some((register) => isOpen(register, at));
    return {
      isOpen: (register) => isOpen(register, at),
      isAnyOpen,
      hasOpenArgument() {
        const { p2, p4 } = program[at]!;
        // A function with any number of arguments does not say how many it has.
        const count = Number(/\((-?\d+)\)$/.exec(p4 ?? "")?.[1] ?? -1);
        return count >= 0
          ? isAnyOpen(p2, count)
          : [...registers].some((register) => register >= p2 && isOpen(register, at));
      },
      fieldsOf: (record) => records.get(record),
      keyFieldsOf: (cursor) => keyFields.get(cursor),
      isStored: (cursor) => stored.has(cursor),
    };
  };

  const write = (register: number, at: number): void => {
    registers.add(register);
    writers.add(at);
  };
  /** Adds what an instruction passes on. */
  function pass(instruction: Instruction, at: number, uses: Uses): void {
    const { opcode, p1, p2, p3, p4 } = instruction;
    if (opcode === "Variable") {
      const next = program[at + 1];
      const isCast = next?.opcode === "Cast" && watch.closes(next, p2);
      if (parameters.has(p1) && !isCast) write(p2, at);
    } else if (opcode === "Copy" || opcode === "Move" || opcode === "SCopy") {
      const count = opcode === "SCopy" ? 1 : opcode === "Copy" ? p3 + 1 : p3;
      for (let index = 0; index < count; index += 1) if (uses.isOpen(p1 + index)) write(p2 + index, at);
    } else if (opcode === "Column") {
      if (columns.has(column(p1, p2))) write(p3, at);
    } else if (opcode === "MakeRecord") {
      const fields = Array.from({ length: p2 }, (_, field) => field).filter(
        (field) => !watch.closesField(p4?.[field]) && uses.isOpen(p1 + field),
      );
      if (fields.length > 0) records.set(p3, new Set([...(records.get(p3) ?? []), ...fields]));
    } else if (INSERTS.has(opcode) && !stored.has(p1)) {
      for (const field of records.get(p2) ?? []) columns.add(column(p1, field));
    } else if (FUNCTIONS.has(opcode)) {
      if (watch.passes(instruction) && uses.hasOpenArgument()) write(p3, at);
    } else if (CALCULATIONS.has(opcode) && watch.passes(instruction)) {
      if (uses.isOpen(p1) || uses.isOpen(p2)) write(p3, at);
    } else if (opcode === "AggFinal" && uses.isOpen(p1)) write(p1, at);
  }

  // Until nothing is added: subroutines and loops run instructions in another order.
  for (;;) {
    const size = (): number =>
      registers.size +
      writers.size +
      columns.size +
      [...records.values()].reduce((sum, fields) => sum + fields.size, 0);
    const before = size();
    for (const [at, instruction] of program.entries()) {
      const uses = usesAt(at);
      if (watch.finds(instruction, uses)) return true;
      pass(instruction, at, uses);
    }
    if (size() === before) return false;
  }
}

/** Whether what a register holds at an instruction was converted, or is no parameter. */
function isClosed(
  program: readonly Instruction[],
  register: number,
  at: number,
  writers: ReadonlySet<number>,
  watch: Watch,
): boolean {
  for (let index = at - 1; index >= 0; index -= 1) {
    const instruction = program[index]!;
    if (instruction.opcode === "Yield" || instruction.opcode === "Gosub" || writers.has(index)) {
      if (!writers.has(index) || mayWrite(instruction, register)) return false;
    } else if (mayWrite(instruction, register) || watch.closes(instruction, register))
      return !isBypassed(program, register, index, at);
  }
  return false;
}

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
    (opcode === "Column" || opcode === "VColumn" || FUNCTIONS.has(opcode) || CALCULATIONS.has(opcode)) &&
    register === p3
  );
}
