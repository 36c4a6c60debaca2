/** Evaluates a definition's expressions with given outputs, in a thread that is ended when its time is up. */
import { parentPort, workerData } from "node:worker_threads";
import { evaluatePreview, type PreviewTask } from "./evaluate-preview.ts";

parentPort!.postMessage(evaluatePreview(workerData as PreviewTask), []);
