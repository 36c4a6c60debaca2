/** The thread that parses a long text: a megabyte would block the event loop for most of a second. */
import { parentPort, workerData } from "node:worker_threads";
import { readYaml } from "./read-yaml.ts";

const { locate, ...read } = readYaml((workerData as { text: string }).text);
parentPort!.postMessage(read, []);
parentPort!.on("message", (paths: PropertyKey[][]) => parentPort!.postMessage(locate(paths), []));
