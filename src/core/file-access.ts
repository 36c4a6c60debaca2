/** Says what keeps this user from a file or a directory. */
import { accessSync, constants, existsSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";

/** Maximum number of links that are followed, as in Linux. */
const MAX_LINKS = 40;

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

/** A part of a path that this user may not use. */
export interface Barrier {
  path: string;
  /** Its path, owner and mode, and the user of this process. */
  description: string;
  /** Whether it belongs to this user, so that its mode is in the way. */
  isOwn: boolean;
}

/**
 * The first part of a path that this user may not use; undefined if there is none.
 * @param mode how the last part is used: a sum of `constants.R_OK`, `W_OK` and `X_OK`
 */
export function findBarrier(path: string, mode: number): Barrier | undefined {
  return barrierOf(path, mode, 0);
}

/** @param links how many links have been followed */
function barrierOf(path: string, mode: number, links: number): Barrier | undefined {
  const whole = resolve(path);
  let last = "/";
  for (const part of [...directoriesAbove(whole), whole]) {
    const found = codeOfStat(part);
    const usage = part === whole ? mode : constants.X_OK;
    if (found === "EACCES") {
      const target = links < MAX_LINKS ? targetOf(part) : undefined;
      return target === undefined ? undefined : barrierOf(target, usage, links + 1);
    }
    const isMissing = found === "ENOENT";
    // Such as a loop of links, which is no matter of permissions.
    if (found !== undefined && !isMissing) return undefined;
    const used = isMissing ? last : part;
    const needed = isMissing ? constants.W_OK | constants.X_OK : usage;
    if (!isAllowed(used, needed)) return describeOwner(used);
    if (isMissing) return undefined;
    last = part;
  }
  return undefined;
}

/** Why the attributes of a path can't be read; undefined if they can. Follows links. */
function codeOfStat(path: string): string | undefined {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/**
 * The path that a link leads to, without reading what is there; undefined if it is no link, such as the mount point of a file system
 * of another user (FUSE). This user may use the directories above it.
 */
function targetOf(link: string): string | undefined {
  try {
    return resolve(realpathSync(dirname(link)), readlinkSync(link));
  } catch {
    return undefined;
  }
}

function describeOwner(path: string): Barrier {
  const stats = statSync(path);
  const own = ownUserId();
  return {
    path,
    description: `${path} belongs to user ${stats.uid} (mode ${modeOf(stats)})${own === undefined ? "" : `, and this is user ${own}`}`,
    isOwn: stats.uid === own,
  };
}

/** What is in the way to a file of the state directory, and what to do about it. @param stateDir its path */
export function barrierSentences({ path, description, isOwn }: Barrier, stateDir: string): string {
  const own = ownUserId() ?? "<user>";
  const change = isOwn
    ? `Let its owner use it (chmod u+rwX ${path})`
    : existsSync(stateDir)
      ? `Give it to this user (chown -R ${own} ${stateDir})`
      : `Create it for this user (install -d -o ${own} -m 700 ${stateDir})`;
  return `${description}. ${change}, or set MILLRACE_STATE_DIR to a directory that this user may read and write.`;
}
