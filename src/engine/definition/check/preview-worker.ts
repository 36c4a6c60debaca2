/** The thread of a preview: its parent terminates it at the timeout. */
import { parentPort, workerData } from "node:worker_threads";
import { evaluatePreview, type PreviewTask } from "./evaluate-preview.ts";

parentPort!.postMessage(evaluatePreview(workerData as PreviewTask), []);
