/** Says what keeps this user from a file or a directory. */
import { accessSync, constants, existsSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";

/** The id of the user of this process; undefined where the system has no such ids. */
function ownUserId(): number | undefined {
  try {
    const { uid } = userInfo();
    return uid < 0 ? undefined : uid;
  } catch {
    // The system does not know the user, as in containers with a random id. Linux has it as the owner of the process.
    return statSync("/proc/self", { throwIfNoEntry: false })?.uid;
  }
}

/** The directories above a path, from the root. */
function directoriesAbove(path: string): string[] {
  const above = dirname(path);
  return above === path ? [] : [...directoriesAbove(above), above];
}

const isAllowed = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

const modeOf = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, "0");

/**
 * The first part of a path that this user may not use, with its owner; undefined if there is none.
 * @param mode how the last part is used: a sum of `constants.R_OK`, `W_OK` and `X_OK`
 */
export function describeBarrier(path: string, mode: number): string | undefined {
  const whole = resolve(path);
  let last = "/";
  for (const part of [...directoriesAbove(whole), whole]) {
    const isMissing = statSync(part, { throwIfNoEntry: false }) === undefined;
    const used = isMissing ? last : part;
    const needed = isMissing ? constants.W_OK | constants.X_OK : part === whole ? mode : constants.X_OK;
    if (!isAllowed(used, needed)) return describeOwner(used);
    if (isMissing) return undefined;
    last = part;
  }
  return undefined;
}

function describeOwner(path: string): string {
  const stats = statSync(path);
  const own = ownUserId();
  return `${path} belongs to user ${stats.uid} (mode ${modeOf(stats)})${own === undefined ? "" : `, and this is user ${own}`}`;
}

/** What to do about a barrier. @param path that of the state directory */
export function ownershipAdvice(path: string): string {
  const own = ownUserId() ?? "<user>";
  const change = existsSync(path)
    ? `Give it to this user (chown -R ${own} ${path})`
    : `Create it for this user (install -d -o ${own} -m 700 ${path})`;
  return `${change}, or set MILLRACE_STATE_DIR to a directory that this user may read and write.`;
}
