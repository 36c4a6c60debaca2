/** The layout, away from the page's thread: it answers each request with a placement. */
import type { LayoutRequest, GraphLayout } from "./geometry.ts";
import { computeLayout } from "./compute-layout.ts";

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has no origin to name
const tell = (answer: GraphLayout | "ready"): void => self.postMessage(answer);

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => tell(computeLayout(data));

// Its files are here: from now on the time is the layout's own.
tell("ready");
