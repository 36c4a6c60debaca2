/**
 * The Dockerfile carried out where there is no container engine: its steps in empty directories, and what comes out run
 * in namespaces of its own as the final stage says: its user, its volumes, the rest read-only. Needs root.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What an image says of the containers that are made from it. */
export interface Image {
  /** Its root file system. */
  root: string;
  env: Record<string, string>;
  workdir: string;
  user: string;
  volumes: string[];
  entrypoint: string[];
  cmd: string[];
  healthcheck: string[];
}

/** One a line, joined where a backslash ends one; comments are left out. */
export function parseDockerfile(dockerfile: string): { word: string; rest: string }[] {
  return dockerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

/** What the .dockerignore lets into a build: it must be a list of what is allowed. */
export function parseDockerignore(ignore: string): string[] {
  const lines = ignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.shift() !== "*") throw new Error(".dockerignore does not begin by leaving everything out");
  return lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
}

/** Much less than the base image: Node, a shell and what the final stage's RUN and the command need. */
function makeBase(root: string): void {
  for (const directory of ["app", "dev", "etc", "proc", "tmp", "usr/bin", "usr/local/bin", "var/lib"])
    mkdirSync(join(root, directory), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  symlinkSync("usr/bin", join(root, "bin"));
  writeFileSync(
    join(root, "etc/passwd"),
    "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n",
  );
  const programs: [from: string, to: string][] = [
    [process.execPath, "usr/local/bin/node"],
    ...["sh", "env", "ln", "install"].map((name): [string, string] => [
      realpathSync(`/usr/bin/${name}`),
      `usr/bin/${name}`,
    ]),
  ];
  for (const [from, to] of programs) {
    copyFileSync(from, join(root, to));
    chmodSync(join(root, to), 0o755);
  }
  // The libraries that the loader needs, and those of a minimal Debian for the native parts of packages.
  const requiredLibraries = [
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
  ];
  const known = execFileSync("ldconfig", ["-p"], { encoding: "utf8" });
  const libraries = [
    ...programs.flatMap(([from]) => execFileSync("ldd", [from], { encoding: "utf8" }).match(/\/\S+/g) ?? []),
    ...requiredLibraries.flatMap(
      (name) =>
        known
          .split("\n")
          .find((line) => line.includes(`${name} (libc6,x86-64)`))
          ?.split(" => ")[1] ?? [],
    ),
  ];
  for (const library of new Set(libraries)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
    chmodSync(join(root, library), 0o755);
  }
}

function shell(command: string, options: { cwd?: string; env: NodeJS.ProcessEnv; root?: string }): void {
  const [file, ...args] =
    options.root === undefined ? ["sh", "-ec", command] : ["chroot", options.root, "sh", "-ec", command];
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: options.cwd,
    env: options.env,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command}\n${stdout}${stderr}`);
}

/**
 * Builds the image below a directory. What only installs and builds runs on this machine's Node and npm; all that
 * makes the final stage happens in its own root.
 */
export function buildImage(directory: string): Image {
  const context = join(directory, "context");
  for (const path of parseDockerignore(readFileSync(join(ROOT, ".dockerignore"), "utf8")))
    cpSync(join(ROOT, path), join(context, path), { recursive: true });

  // The base image's own Node, not the one among the dependencies.
  const tools = join(directory, "tools");
  mkdirSync(tools);
  symlinkSync(process.execPath, join(tools, "node"));
  const npm = dirname(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
  const buildEnv = { ...process.env, PATH: `${tools}:${npm}:/usr/bin:/bin` };

  const stages = new Map<string, string>();
  let image: Image;
  const begin = (name: string): void => {
    const root = join(directory, name);
    mkdirSync(root);
    if (name === "final") makeBase(root);
    stages.set(name, root);
    image = {
      root,
      env: { PATH },
      workdir: "/",
      user: "0",
      volumes: [],
      entrypoint: [],
      cmd: [],
      healthcheck: [],
    };
  };
  const take: Record<string, (rest: string) => void> = {
    ARG() {},
    LABEL() {},
    EXPOSE() {},
    FROM: (rest) => begin(/ AS (\S+)$/.exec(rest)?.[1] ?? "final"),
    WORKDIR(rest) {
      image.workdir = rest;
      mkdirSync(join(image.root, rest), { recursive: true });
    },
    ENV(rest) {
      for (const pair of rest.split(/\s+/)) {
        const [name, value] = pair.split("=") as [string, string];
        image.env[name] = value;
      }
    },
    USER: (rest) => void (image.user = rest),
    VOLUME: (rest) => void (image.volumes = JSON.parse(rest) as string[]),
    ENTRYPOINT: (rest) => void (image.entrypoint = JSON.parse(rest) as string[]),
    CMD: (rest) => void (image.cmd = JSON.parse(rest) as string[]),
    HEALTHCHECK: (rest) =>
      void (image.healthcheck = JSON.parse(rest.slice(rest.indexOf("CMD ") + 4)) as string[]),
    COPY(rest) {
      const words = rest.split(/\s+/);
      const from = words[0]!.startsWith("--from=") ? stages.get(words.shift()!.slice(7))! : context;
      const target = words.pop()!;
      for (const source of words) {
        const path = join(from, source);
        const inside = join(image.root, resolve(image.workdir, target));
        const intoDirectory = target.endsWith("/") && statSync(path).isFile();
        cpSync(path, intoDirectory ? join(inside, basename(path)) : inside, {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    },
    RUN(rest) {
      const { root, workdir, env } = image;
      if (root === stages.get("final")) shell(`cd ${workdir}; ${rest}`, { env, root });
      else shell(rest, { cwd: join(root, workdir), env: buildEnv });
    },
  };
  for (const { word, rest } of parseDockerfile(readFileSync(join(ROOT, "Dockerfile"), "utf8"))) {
    const step = take[word];
    if (step === undefined) throw new Error(`${word} is not known here`);
    step(rest);
  }
  return image!;
}

export interface Container {
  /** Of its first process, as this machine sees it. */
  pid: number;
  log(): string;
  /** Runs a command in it, as its user. */
  exec(
    command: readonly string[],
    env?: Record<string, string>,
  ): { status: number | null; out: string; err: string };
  /** Asks it to end. */
  stop(): void;
  ended: Promise<number | null>;
}

/** $1: the root; $2: its user; $3: its working directory; then volumes, each with its place, to `--`; then the command. */
const ENTER = `
root="$1" user="$2" workdir="$3"; shift 3
ip link set lo up
mount --bind "$root" "$root"
while [ "$1" != -- ]; do mkdir -p "$root$2"; mount --bind "$1" "$root$2"; shift 2; done; shift
mount -t proc -o subset=pid proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" env -C "$workdir" "$@"
`;

/**
 * A container with the root file system read-only, of /proc nothing but processes (as the systemd units have it), a
 * network without anybody else, and new volumes.
 */
export async function runContainer(
  image: Image,
  {
    entrypoint = image.entrypoint,
    cmd = image.cmd,
    env = {},
    mounts = [],
  }: {
    entrypoint?: string[];
    cmd?: string[];
    env?: Record<string, string>;
    /** Directories of this machine, each with its place. */
    mounts?: [from: string, to: string][];
  },
  volumesIn: string,
): Promise<Container> {
  const volumes = image.volumes.flatMap((path, index) => {
    // A new volume begins as what the image has at its place: owner, mode, contents.
    const own = join(volumesIn, String(index));
    const { uid, gid, mode } = statSync(join(image.root, path));
    mkdirSync(own, { recursive: true });
    chownSync(own, uid, gid);
    chmodSync(own, mode & 0o7777);
    return [own, path];
  });
  const all = { ...image.env, ...env };
  const child = spawn(
    "unshare",
    [
      "--mount",
      "--net",
      "--pid",
      "--ipc",
      "--uts",
      "--fork",
      "--kill-child",
      "sh",
      "-ec",
      ENTER,
      "sh",
    ].concat(image.root, image.user, image.workdir, volumes, mounts.flat(), "--", entrypoint, cmd),
    { env: all, stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = once(child, "exit").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const log = collected(child);
  const pid = await eventually(() => entered(child, image.root, log), "the container to begin", 30_000);
  // Changing the user cancels --kill-child. Killing its first process ends the whole container.
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, "SIGKILL");
  });
  return {
    pid,
    log,
    ended,
    stop: () => void process.kill(pid, "SIGTERM"),
    exec(command, more = {}) {
      const [uid, gid] = image.user.split(":") as [string, string];
      const into = ["--target", String(pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--root"];
      const as = ["--setuid", uid, "--setgid", gid, "--", "env", "-C", image.workdir];
      const { status, stdout, stderr } = spawnSync("nsenter", [...into, ...as, ...command], {
        env: { ...all, ...more },
        encoding: "utf8",
        timeout: 90_000,
        maxBuffer: 64 * 1024 ** 2,
      });
      return { status, out: stdout, err: stderr };
    },
  };
}

function collected(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text;
}

/** The first process, once it has nothing but the container's root. */
function entered({ pid, exitCode }: ChildProcess, root: string, log: () => string): number | undefined {
  if (exitCode !== null) throw new Error(log());
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    return first && readlinkSync(`/proc/${first}/root`) === root ? Number(first) : undefined;
  } catch {
    // It has ended meanwhile: the next look tells.
    return undefined;
  }
}
