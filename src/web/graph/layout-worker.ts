/** The layout, away from the page's thread: it answers each request with a placement. */
import type { LayoutRequest, Placement } from "./geometry.ts";
import { place } from "./place.ts";

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has no origin to name
const tell = (answer: Placement | "ready"): void => self.postMessage(answer);

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => tell(place(data));

// Its files are here: from now on the time is the layout's own.
tell("ready");
