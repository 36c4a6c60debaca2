/**
 * Follows the parameters of a SQLite statement through its program: through registers, and through the columns of sorters and temporary
 * tables. (sqlite.org/opcode.html; child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";
import { createClosings } from "./sqlite-closings.ts";
import { CALCULATIONS, FUNCTIONS, INSERTS } from "./sqlite-opcodes.ts";

export interface Instruction {
  opcode: string;
  p1: number;
  p2: number;
  p3: number;
  p4: string | null;
  p5: number;
}

type Row = [addr: number, opcode: string, p1: number, p2: number, p3: number, p4: string | null, p5: number];

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
  /** The registers whose values an instruction converts, so that they matter no longer. */
  closes(instruction: Instruction): readonly number[];
  /** Whether a record with this affinity of a field converts the field, so that it matters no longer. */
  closesField(affinity: string | undefined): boolean;
  /** Whether a function, an aggregate or a calculation may return its argument, or a text that has it. */
  passes(instruction: Instruction): boolean;
  /** Whether the answer is yes because of this instruction. */
  finds(instruction: Instruction, uses: Uses): boolean;
}

/** The program of a statement, without those of triggers: they see values as the columns of the table store them. */
export function readProgram(db: DatabaseSync, text: string): Instruction[] {
  const statement = db.prepare(`EXPLAIN ${text}`);
  statement.setReturnArrays(true);
  const program: Instruction[] = [];
  const opcodes = new Map<string, string>();
  for (const row of statement.iterate() as unknown as Iterable<Row>) {
    const [addr, name, p1, p2, p3, p4, p5] = row;
    if (addr !== program.length) break;
    // With one string for each opcode, comparing takes half the time.
    const opcode = opcodes.get(name) ?? name;
    opcodes.set(opcode, opcode);
    program.push({ opcode, p1, p2, p3, p4, p5 });
  }
  return program;
}

/** The fields of a record that hold a parameter. A field may hold a record, too. */
interface Fields {
  open: Set<number>;
  nested: Map<number, Set<number>>;
}

/** Parameters everywhere: most programs have no instruction that a watch is about. */
const ALL_OPEN: Omit<Uses, "keyFieldsOf" | "isStored"> = {
  isOpen: () => true,
  isAnyOpen: (_first, count) => count > 0,
  hasOpenArgument: () => true,
  fieldsOf: () => new Set([0]),
};

/** Number of arguments of a function that takes any number of them: its limit in SQLite. */
const MAX_ARGUMENTS = 1_000;

/**
 * Follows parameters until the watch finds one of them. Instructions that the list lacks are passed over.
 * @param parameters the numbers of the parameters, from 1 on
 * @returns whether the watch finds one
 */
export function traceParameters(
  program: readonly Instruction[],
  parameters: ReadonlySet<number>,
  watch: Watch,
): boolean {
  const keyFields = new Map<number, number>();
  const stored = new Set<number>();
  const alias = new Map<number, number>();
  /** The registers of the records of cursors that read a register. */
  const pseudo = new Map<number, number>();
  for (const { opcode, p1, p2, p4 } of program) {
    if (opcode === "SorterOpen" || opcode === "OpenEphemeral")
      keyFields.set(p1, Number(/^k\((\d+)/.exec(p4 ?? "")?.[1] ?? 0));
    else if (opcode === "OpenWrite") stored.add(p1);
    else if (opcode === "OpenPseudo") pseudo.set(p1, p2);
    else if (opcode === "OpenDup") alias.set(p1, p2);
  }
  const constant = {
    keyFieldsOf: (cursor: number) => keyFields.get(cursor),
    isStored: (cursor: number) => stored.has(cursor),
  };
  const anywhere: Uses = { ...ALL_OPEN, ...constant };
  if (!program.some((instruction) => watch.finds(instruction, anywhere))) return false;
  const registers = new Set<number>();
  /** The instructions that write a parameter to a register. */
  const writers = new Set<number>();
  /** By the register of the record, and by the cursor of the table. */
  const records = new Map<number, Fields>();
  const tables = new Map<number, Fields>();
  let changes = 0;
  const isClosed = createClosings(program, writers, watch);
  /** The address of the instruction that the trace has reached. */
  let at = 0;
  const isOpen = (register: number): boolean => registers.has(register) && !isClosed(register, at);
  const isAnyOpen = (first: number, count: number): boolean => {
    for (let index = 0; index < count; index += 1) if (isOpen(first + index)) return true;
    return false;
  };
  const uses: Uses = {
    isOpen,
    isAnyOpen,
    hasOpenArgument() {
      const { p2, p4 } = program[at]!;
      // A function with any number of arguments does not say how many it has.
      const count = Number(/\((-?\d+)\)$/.exec(p4 ?? "")?.[1] ?? -1);
      return isAnyOpen(p2, count >= 0 ? count : MAX_ARGUMENTS);
    },
    fieldsOf: (record) => records.get(record)?.open,
    ...constant,
  };

  const write = (register: number): void => {
    if (registers.has(register) && writers.has(at)) return;
    registers.add(register);
    writers.add(at);
    changes += 1;
  };
  function add(to: Map<number, Fields>, key: number, open: Iterable<number>, nested: Fields["nested"]): void {
    const fields = to.get(key) ?? { open: new Set(), nested: new Map() };
    to.set(key, fields);
    for (const field of open) {
      if (fields.open.has(field)) continue;
      fields.open.add(field);
      changes += 1;
    }
    for (const [field, inner] of nested) {
      const known = fields.nested.get(field) ?? new Set();
      fields.nested.set(field, known);
      const before = known.size;
      for (const one of inner) known.add(one);
      changes += known.size - before;
    }
  }
  const tableOf = (cursor: number): Fields | undefined => {
    const register = pseudo.get(cursor);
    return register === undefined ? tables.get(alias.get(cursor) ?? cursor) : records.get(register);
  };

  function makeRecord({ p1, p2, p3, p4 }: Instruction): void {
    const open: number[] = [];
    const nested: Fields["nested"] = new Map();
    for (let field = 0; field < p2; field += 1) {
      if (!watch.closesField(p4?.[field]) && isOpen(p1 + field)) open.push(field);
      const inner = records.get(p1 + field);
      if (inner !== undefined) nested.set(field, inner.open);
    }
    if (open.length > 0 || nested.size > 0) add(records, p3, open, nested);
  }
  function readColumn({ p1, p2, p3 }: Instruction): void {
    const table = tableOf(p1);
    if (table?.open.has(p2)) write(p3);
    const inner = table?.nested.get(p2);
    if (inner !== undefined) add(records, p3, inner, new Map());
  }
  /** Adds what an instruction passes on. */
  function pass(instruction: Instruction): void {
    const { opcode, p1, p2, p3 } = instruction;
    if (opcode === "Variable") {
      const next = program[at + 1];
      const isCast = next?.opcode === "Cast" && watch.closes(next).includes(p2);
      if (parameters.has(p1) && !isCast) write(p2);
    } else if (opcode === "Copy" || opcode === "Move" || opcode === "SCopy") {
      const count = opcode === "SCopy" ? 1 : opcode === "Copy" ? p3 + 1 : p3;
      for (let index = 0; index < count; index += 1) if (isOpen(p1 + index)) write(p2 + index);
    } else if (opcode === "Column") readColumn(instruction);
    else if (opcode === "MakeRecord") makeRecord(instruction);
    else if (opcode === "RowData" || opcode === "SorterData") {
      const table = tableOf(p1);
      if (table !== undefined) add(records, p2, table.open, table.nested);
    } else if (INSERTS.has(opcode) && !stored.has(p1)) {
      const record = records.get(p2);
      if (record !== undefined) add(tables, alias.get(p1) ?? p1, record.open, record.nested);
    } else if (FUNCTIONS.has(opcode)) {
      if (watch.passes(instruction) && uses.hasOpenArgument()) write(p3);
    } else if (CALCULATIONS.has(opcode) && watch.passes(instruction)) {
      if (isOpen(p1) || isOpen(p2)) write(p3);
    } else if (opcode === "AggFinal" && isOpen(p1)) write(p1);
    else if (opcode === "AggValue" && isOpen(p1)) write(p3);
  }

  // Until nothing is added: subroutines and loops run instructions in another order.
  for (;;) {
    const before = changes;
    for (at = 0; at < program.length; at += 1) {
      const instruction = program[at]!;
      if (watch.finds(instruction, uses)) return true;
      pass(instruction);
    }
    if (changes === before) return false;
  }
}
