/** What a random request is. */
import type { Company } from "./company.ts";
import type { Actor } from "./made.ts";
import type { Answered } from "./surfaces.ts";
import type { Answer } from "./conditions.ts";

export interface Pick {
  one<T>(values: readonly T[]): T | undefined;
  some<T>(values: readonly T[]): T[];
  number(below: number): number;
  chance(probability: number): boolean;
}

export interface Request {
  operation: string;
  input: Record<string, unknown>;
  expected(actor: Actor): Answer;
  /** Sends it without a key, in place of the actor. */
  send?(): Promise<Answered>;
  /** Who may send it; default: everybody. */
  actors?: readonly Actor[];
  /** What callers with the same answer differ in. */
  aspect?(actor: Actor): string;
  /** What is wrong with an accepted answer; undefined for nothing. */
  check?(actor: Actor, output: Answered["output"]): Promise<string | undefined> | string | undefined;
  /** Changes what the model knows. */
  after?(actor: Actor, output: Answered["output"]): Promise<void> | void;
}

export type Maker = (company: Company, pick: Pick) => Promise<Request | undefined> | Request | undefined;

/** With how often each is chosen, and the operation of its requests. */
export type Makers = readonly (readonly [weight: number, operation: string, maker: Maker])[];
