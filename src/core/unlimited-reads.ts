/**
 * What the readers of a request pass on without the limits of its caller, with the reason of each. A port or a function that is
 * neither limited (scoped-readers.ts) nor listed here does not compile.
 */
import type { Readers } from "./ports.ts";

/** Operations do not call it: it is for the engine and for commands of the operator, which work on everything. */
const NO_OPERATION = "no operation calls it";
/** The caller has found what the argument names, by a limited reader. */
const FOUND = "operations call it only with what a limited reader has found";
const NUMBERS_ONLY = "it returns a number of what the engine counts, and says nothing about single things";

/** The functions, by the port that limits its other functions. */
export const UNLIMITED_READS = {
  workflows: {
    authorship:
      "who wrote a version counts, also where the caller does not see it: otherwise its author could approve what it does",
    publications: FOUND,
    prunable: NO_OPERATION,
  },
  runs: {
    countUnfinishedByStatus: NO_OPERATION,
    retriedOf: FOUND,
    countUnfinishedFor: NUMBERS_ONLY,
    countUnfinishedOf: NUMBERS_ONLY,
    // A run stays in its project when its workflow moves away, and its definition with it.
    versionDefinition: FOUND,
    cachedOutput: NO_OPERATION,
  },
  schedules: { due: NO_OPERATION, dueAfter: NO_OPERATION, nextAt: NO_OPERATION },
  projects: {
    isSingle: "it decides what the caller sees",
    revision: NUMBERS_ONLY,
    contents: FOUND,
    membershipsOf: "it decides what a person sees, and operations call it for a person whom they have found",
    isOffered: NO_OPERATION,
    offersOf: FOUND,
    offeredTo: FOUND,
  },
  backfills: { running: NO_OPERATION },
  backtests: { running: NO_OPERATION },
  bulkActions: { running: NO_OPERATION },
  interruptions: { openCounts: FOUND },
  subscriptions: { countDeliveries: FOUND },
  expectations: { due: NO_OPERATION },
  triggerDeliveries: { hasDue: NO_OPERATION, unended: NO_OPERATION },
  workflowChanges: {
    // ofKey has returned the ids.
    ofSubscriptions: FOUND,
  },
} as const satisfies { [P in keyof Readers]?: { [F in keyof Readers[P]]?: string } };

const OF_PEOPLE = "people and keys belong to no project, and the operations check who may see them";

/** The ports. */
export const UNLIMITED_PORTS = {
  usage: NO_OPERATION,
  jobs: "operations only ask whether there is an executor",
  approvalLinks: "it finds a link by the digest of a secret that only the recipient has",
  approvalMessages: NO_OPERATION,
  deliveryQueue: NO_OPERATION,
  keyNotices: NO_OPERATION,
  apiKeys: OF_PEOPLE,
  users: OF_PEOPLE,
  sessions: OF_PEOPLE,
  identities: OF_PEOPLE,
  links: OF_PEOPLE,
} as const satisfies Partial<Record<keyof Readers, string>>;

type Unlimited = typeof UNLIMITED_READS;

/** The functions of a port that are passed on. */
export function passedOn<P extends keyof Unlimited>(
  read: Readers[P],
  port: P,
): Pick<Readers[P], keyof Unlimited[P] & keyof Readers[P]> {
  const names = Object.keys(UNLIMITED_READS[port]) as (keyof Unlimited[P] & keyof Readers[P])[];
  return Object.fromEntries(names.map((name) => [name, read[name]])) as Pick<
    Readers[P],
    keyof Unlimited[P] & keyof Readers[P]
  >;
}
