/** The thread that parses a long text: a megabyte would block the event loop for most of a second. */
import { parentPort, workerData } from "node:worker_threads";
import { readYaml } from "./read-yaml.ts";

const { value, issues, locate } = readYaml((workerData as { text: string }).text);
parentPort!.postMessage({ value, issues }, []);
parentPort!.on("message", (paths: PropertyKey[][]) => parentPort!.postMessage(locate(paths), []));
