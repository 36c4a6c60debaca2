/** What the commands use of the process. Only main.ts implements it; a command gets the parts that it needs. */
import type { ChildProcess } from "node:child_process";

export interface ProcessHost {
  /** Calls back once when the process must end: on SIGTERM, on SIGINT, or when the parent process is gone. */
  onStop(stop: () => void): void;
  /** The same for a server, which does not end when its output is no longer read. */
  onServerStop(stop: () => void): void;
  /** The same for a worker, which is ended by force when it does not stop in time. */
  onWorkerStop(stop: () => void): void;
  /** Starts this program again with other arguments and an IPC channel to it. */
  spawn(args: readonly string[]): ChildProcess;
  /** Sends a message to the parent process, if there is one. */
  send(message: object): void;
  /** Calls back with each message of the parent process. */
  onMessage(listener: (message: never) => void): void;
  /** Asks the person at the terminal; undefined if there is no terminal. */
  ask(question: string): Promise<string | undefined>;
  /** Opens a file in the editor of the person at the terminal (VISUAL, EDITOR), and resolves when it is closed. */
  edit(file: string): Promise<void>;
  /** Ends the process shortly, although a library may still be waiting for an answer that does not come. */
  exitSoon(): void;
  /** The user id of this process; undefined on a system without user ids. */
  uid: number | undefined;
  /** The version of Node, such as `v24.1.0`. */
  node: string;
  /** Operating system and architecture, such as `linux x64`. */
  platform: string;
}
