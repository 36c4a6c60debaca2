/** The instructions of SQLite, by what they do with registers. (sqlite.org/opcode.html; child processes load this file.) */
import type { Instruction } from "./sqlite-program.ts";

export const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

export const COMPARISONS = setOf("Eq Ne Lt Le Gt Ge");
/** Compare `p4` registers from `p3` on with a key of an index. With no `p4` the key is a rowid, or a record. */
export const SEEKS = setOf(
  "SeekGT SeekGE SeekLT SeekLE IdxGT IdxGE IdxLT IdxLE Found NotFound IfNoHope Filter FilterAdd",
);
/** Take an integer, and convert a text to one. */
export const ROWID_SEEKS = setOf("SeekGT SeekGE SeekLT SeekLE");
export const INSERTS = setOf("Insert IdxInsert SorterInsert");
export const FUNCTIONS = setOf("Function PureFunc AggStep AggStep1 AggInverse");
/** Convert operands to numbers, to texts or to truth values, and write register `p3`. */
export const CALCULATIONS = setOf(
  "Add Subtract Multiply Divide Remainder BitAnd BitOr ShiftLeft ShiftRight Concat And Or",
);
/** Write register `p2`, and read none that the type of a value decides. */
const WRITE_P2 = setOf(
  "Variable IntCopy SCopy Copy Move Not BitNot IsTrue ZeroOrNull Param Integer Int64 Real String String8 Blob Null Rowid IdxRowid NewRowid " +
    "Sequence Count ReadCookie CreateBtree GetSubtype RowData SorterData VInitIn JournalMode Pagecount MaxPgcnt",
);
/** Write register `p3`, as functions and calculations do. */
const WRITE_P3 = setOf("Column VColumn AggValue Offset");
/** Compare nothing: they open cursors, move them, branch, write rows, check stored rows, and change the schema. */
const HARMLESS = setOf(
  "Init Transaction Goto Gosub Return Once BeginSubrtn InitCoroutine EndCoroutine Yield Noop Explain Halt HaltIfNull Close NullRow " +
    "OpenRead OpenWrite ReopenIdx OpenEphemeral OpenAutoindex OpenPseudo OpenDup SorterOpen SorterSort Sort SorterNext SorterCompare SequenceTest ResetSorter " +
    "Rewind Last Next Prev DeferredSeek FinishSeek SeekRowid NotExists SeekScan SeekHit SeekEnd NoConflict IfEmpty IfNullRow IfSizeBetween " +
    "If IfNot IsNull NotNull IfPos IfNotZero DecrJumpZero MustBeInt RealAffinity OffsetLimit AddImm Jump CollSeq ColumnsUsed SoftNull " +
    "Delete IdxDelete Clear FkCheck FkCounter FkIfZero Program TypeCheck ResetCount Expire TableLock ReleaseReg ResultRow AggFinal " +
    "MemMax RowSetAdd RowSetRead RowSetTest VOpen VNext VUpdate VBegin VCheck VCreate VDestroy VRename " +
    "IsType ElseEq IfNotOpen Permutation RowCell SetSubtype ClrSubtype CursorHint CursorLock CursorUnlock Trace Abortable SetCookie SqlExec " +
    "ParseSchema LoadAnalysis Destroy DropTable DropIndex DropTrigger IntegrityCk IFindKey Savepoint AutoCommit Checkpoint Vacuum IncrVacuum",
);
const KNOWN: readonly ReadonlySet<string>[] = [
  setOf("MakeRecord Affinity Cast Compare VFilter"),
  COMPARISONS,
  SEEKS,
  INSERTS,
  FUNCTIONS,
  CALCULATIONS,
  WRITE_P2,
  WRITE_P3,
  HARMLESS,
];
export const JUMPS = setOf(
  "Goto Gosub InitCoroutine Once Rewind Last Sort SorterSort Next Prev SorterNext SeekRowid NotExists SeekGT SeekGE SeekLT SeekLE " +
    "IdxGT IdxGE IdxLT IdxLE Found NotFound NoConflict IfNoHope Filter If IfNot IsNull NotNull IfPos IfNotZero DecrJumpZero IfNullRow Yield " +
    "Eq Ne Lt Le Gt Ge MustBeInt IfNotOpen IfEmpty IfSizeBetween IsType ElseEq RowSetRead RowSetTest VFilter VNext",
);

/** Whether the list of instructions has each of a program. */
export const isKnownProgram = (program: readonly Instruction[]): boolean =>
  program.every(({ opcode }) => KNOWN.some((names) => names.has(opcode)));

/** The registers that an instruction writes, or may write. @returns the first one, and their number */
export function writtenRegisters({ opcode, p1, p2, p3 }: Instruction): readonly [number, number] | undefined {
  if (opcode === "Copy") return [p2, p3 + 1];
  if (opcode === "Move") return [p2, p3];
  if (opcode === "Null") return [p2, Math.max(p3 - p2, 0) + 1];
  if (WRITE_P2.has(opcode)) return [p2, 1];
  if (opcode === "SoftNull" || opcode === "AggFinal") return [p1, 1];
  return WRITE_P3.has(opcode) || FUNCTIONS.has(opcode) || CALCULATIONS.has(opcode) ? [p3, 1] : undefined;
}
