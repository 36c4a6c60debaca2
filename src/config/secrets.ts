/**
 * The values of the variables that the configuration names: from the environment, from files that are read again when they
 * change, and from a command that runs again before its values are old.
 */
import type { SecretCommand } from "../../schemas/secret-command.ts";
import { SECOND } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import { notSet, type SecretSource } from "../core/secret-source.ts";
import { describeVariable } from "../core/variables.ts";
import { fileOf, fileVariableName } from "./file-variables.ts";
import { runSecretCommand } from "./secret-command.ts";
import { isReadableByAll, type SecretFile, secretFile } from "./secret-file.ts";
import type { Reading } from "./secret-text.ts";

/** Interval at which the files are checked while values are used, in milliseconds. */
const POLL_MS = SECOND;
/** Shortest time between two runs of the command for one variable, in milliseconds. */
const MIN_COMMAND_INTERVAL_MS = SECOND;
/** Time after which a failed command runs again, if that is before its next refresh, in milliseconds. */
const RETRY_MS = 30 * SECOND;
/** Number of commands that run at a time. */
const LANES = 4;
/** Maximum number of former values of a variable that are still masked. */
const MAX_FORMER = 16;

/** They never get a value. */
interface SecretEvents {
  /** A value is replaced. */
  onReplaced(variable: string): void;
  /** A value can't be read, for a new reason. */
  onFailure(reason: string): void;
  /** A value can be read after a failure: the former one, or the first one. */
  onRecovered(variable: string): void;
}

/** The secrets of a process. */
export interface Secrets extends SecretSource {
  /** Reads all variables once. @see SecretSource.load */
  loadAll(): Promise<void>;
  listen(events: SecretEvents): void;
  /** The variables with files that every user of the machine can read, with the paths. */
  exposedFiles(): { variable: string; path: string }[];
  /** Ends commands and timers. The values remain. */
  close(): void;
}

interface Slot {
  variable: string;
  value: string | undefined;
  former: string[];
  /** Why the last reading failed. */
  problem: string | null;
  file?: { path: string; content: SecretFile };
  command?: { isRead: boolean; reading?: Promise<void>; startedAt: number; timer?: NodeJS.Timeout };
}

export interface SecretsOptions {
  /** Variables that are never asked of the command. */
  own?: readonly string[];
  command?: SecretCommand | undefined;
  /** A monotonic time in milliseconds. */
  now?: () => number;
}

/**
 * Opens the secrets: a variable of the environment comes first, then its file, then the command.
 * @param env the environment; `fileOf` must find no issue in it
 * @param variables the variables that the configuration names
 */
export function openSecrets(
  env: Readonly<Record<string, string | undefined>>,
  variables: Iterable<string>,
  { own = [], command, now = () => performance.now() }: SecretsOptions = {},
): Secrets {
  const closing = new AbortController();
  const listeners: SecretEvents[] = [];
  const slots = new Map([...new Set([...variables, ...own])].map((variable) => [variable, slotOf(variable)]));
  const withFiles = [...slots.values()].filter(({ file }) => file !== undefined);
  const lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());
  let revision = 0;
  let nextLane = 0;
  let polledAt = -Infinity;
  poll();

  function slotOf(variable: string): Slot {
    const slot: Slot = { variable, value: env[variable] || undefined, former: [], problem: null };
    const file = fileOf(env, variable);
    if (file !== undefined && "path" in file) slot.file = { ...file, content: secretFile(file.path) };
    else if (slot.value === undefined && command !== undefined && !own.includes(variable))
      slot.command = { isRead: false, startedAt: -Infinity };
    return slot;
  }

  /** Keeps the last value if there is no new one. */
  function apply(slot: Slot, reading: Reading): void {
    if ("problem" in reading) {
      const problem =
        slot.file === undefined ? commandProblem(slot, reading.problem) : fileProblem(slot, reading.problem);
      if (problem === slot.problem) return;
      slot.problem = problem;
      for (const { onFailure } of listeners) onFailure(problem);
      return;
    }
    const hadFailed = slot.problem !== null;
    slot.problem = null;
    const { value: last } = slot;
    if (reading.value !== last) {
      slot.value = reading.value;
      revision += 1;
    }
    if (last !== undefined && reading.value !== last) {
      slot.former = [last, ...slot.former.filter((value) => value !== last)].slice(0, MAX_FORMER);
      for (const { onReplaced } of listeners) onReplaced(slot.variable);
    } else if (hadFailed) for (const { onRecovered } of listeners) onRecovered(slot.variable);
  }

  /** Reads the files that have changed, at most once in a while. */
  function poll(): void {
    if (withFiles.length === 0 || now() - polledAt < POLL_MS) return;
    polledAt = now();
    for (const slot of withFiles) pollFile(slot);
  }

  function pollFile(slot: Slot): void {
    const reading = slot.file!.content.poll();
    if (reading !== undefined) apply(slot, reading);
  }

  /** Runs the command for a variable. Callers at the same time share one run. */
  function read(slot: Slot): Promise<void> {
    const state = slot.command!;
    if (closing.signal.aborted) return Promise.resolve();
    state.reading ??= inTurn(async () => {
      clearTimeout(state.timer);
      state.startedAt = now();
      const reading = await runSecretCommand(command!, slot.variable, env, closing.signal);
      if (closing.signal.aborted) return;
      apply(slot, reading);
      const refreshMs = Math.max(durationMs(command!.refresh), SECOND);
      const delay = "value" in reading ? refreshMs : Math.min(refreshMs, RETRY_MS);
      state.timer = setTimeout(() => void read(slot), delay).unref();
    }).finally(() => {
      state.isRead = true;
      delete state.reading;
    });
    return state.reading;
  }

  /** Limits the number of commands at a time. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const lane = nextLane;
    nextLane = (nextLane + 1) % LANES;
    lanes[lane] = lanes[lane]!.then(work);
    return lanes[lane];
  }

  const isDue = ({ command: state }: Slot): boolean =>
    state !== undefined &&
    (state.reading !== undefined || now() - state.startedAt >= MIN_COMMAND_INTERVAL_MS);

  const slotsOf = (names: readonly string[]): Slot[] =>
    names.flatMap((name) => {
      const slot = slots.get(name);
      return slot === undefined ? [] : [slot];
    });

  const load: Secrets["load"] = async (names) => {
    const unread = slotsOf(names).filter((slot) => slot.command?.isRead === false);
    if (unread.length > 0) await Promise.all(unread.map(read));
  };

  return {
    get(variable) {
      poll();
      return slots.get(variable)?.value;
    },
    missingReason(variable) {
      poll();
      const slot = slots.get(variable);
      if (slot === undefined) return notSet(variable);
      if (slot.value !== undefined || slot.command?.isRead === false) return null;
      return slot.problem ?? notSet(variable);
    },
    load,
    loadAll: () => load([...slots.keys()]),
    async reread(names) {
      const asked = slotsOf(names);
      for (const slot of asked) if (slot.file !== undefined) pollFile(slot);
      await Promise.all(asked.filter(isDue).map(read));
    },
    formerValues: (variable) => slots.get(variable)?.former ?? [],
    revision() {
      poll();
      return revision;
    },
    exposedFiles: () =>
      withFiles.flatMap(({ variable, file }) =>
        isReadableByAll(file!.path) ? [{ variable, path: file!.path }] : [],
      ),
    listen: (events) => void listeners.push(events),
    close() {
      closing.abort();
      for (const { command: state } of slots.values()) clearTimeout(state?.timer);
    },
  };
}

// Without the path, because callers see the reason too.
const fileProblem = ({ variable }: Slot, problem: string): string =>
  `the file that ${fileVariableName(variable)} names ${problem}`;

const commandProblem = ({ variable }: Slot, problem: string): string =>
  `secret_command ${problem} when it was asked for ${describeVariable(variable)}`;
