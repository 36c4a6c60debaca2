/** Reads a long text away from the listeners' thread: parsing a megabyte takes most of a second. */
import { parentPort, workerData } from "node:worker_threads";
import { readYaml } from "./read-yaml.ts";

const { value, issues, locate } = readYaml((workerData as { text: string }).text);
parentPort!.postMessage({ value, issues }, []);
parentPort!.on("message", (paths: PropertyKey[][]) => parentPort!.postMessage(locate(paths), []));
