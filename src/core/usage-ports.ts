/** The interfaces of the store for what owners have used, and for the record of the secrets that steps use. */
import type { StepRef } from "./model.ts";
import type { Applied } from "./transactions.ts";
import type { MeteredResource, ProjectLimitsReader } from "./usage-limits.ts";

/** The usage of a subject (usage-limits.ts) in a window. Its end, in milliseconds since 1970, identifies the window. */
export interface UsageReader extends ProjectLimitsReader {
  usedInWindow(subject: string, kind: MeteredResource, endsAt: number): Promise<number>;
  /**
   * The bytes that a subject stores: the values of its runs, and the versions and states of workflows that it wrote, each at
   * its full size. For a project, those of its runs and workflows.
   *
   * Guarantee: writers add what they store in the same transaction, and purges subtract it; none of concurrent changes is
   * lost. Locks: none.
   */
  storedBytes(subject: string): Promise<number>;
}

export interface UsageWriter extends UsageReader {
  /**
   * Adds an amount that has already been used, even beyond the limit.
   *
   * Guarantee: an atomic add; none of concurrent adds is lost.
   * Locks: the row of the window, until the transaction ends.
   * @returns the sum, this amount included
   */
  add(subject: string, kind: MeteredResource, endsAt: number, amount: number): Promise<number>;
  /**
   * Adds an amount unless the sum would exceed `max`.
   *
   * Guarantee: an atomic compare and add; concurrent callers never exceed `max` together.
   * Locks: the row of the window, until the transaction ends.
   * @returns false when the sum would exceed `max`; nothing was added then
   */
  reserve(
    subject: string,
    kind: MeteredResource,
    endsAt: number,
    reservation: { amount: number; max: number },
  ): Promise<Applied>;
}

/** A secret that a step is about to use: its name, never its value, and the host that it is sent to. */
export interface SecretUse {
  /** The name of an entry of `secrets`; of the login of a connection, that of its variable. */
  secret: string;
  /** The connection that logs in with it, such as `database:shop`; left out for an entry of `secrets`. */
  connection?: string;
  /** With the port, where it is not the default one. */
  host: string;
}

/** Records the uses of secrets in the audit log. */
export interface SecretUseWriter {
  /**
   * Adds an entry for each use, in the name of who started the run, with the record of the attempt.
   *
   * Locks: the newest audit entry, until the transaction ends, so it comes last.
   */
  record(attempt: StepRef & { attempt: number }, uses: readonly SecretUse[]): Promise<void>;
}
