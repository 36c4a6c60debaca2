/** Computes layouts off the main thread: answers each request with a layout. */
import type { LayoutRequest, GraphLayout } from "./geometry.ts";
import { computeLayout } from "./compute-layout.ts";

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no target origin
const reply = (answer: GraphLayout | "loaded"): void => self.postMessage(answer);

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => reply(computeLayout(data));

// The time limit starts now, so that it excludes loading the worker.
reply("loaded");
