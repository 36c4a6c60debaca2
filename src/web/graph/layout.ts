/** The layout of a graph's steps, computed by a worker and bounded in time: the page's thread never waits for it. */
import { useEffect, useMemo, useState } from "react";
import {
  type Direction,
  LAYOUT_LIMIT_MS,
  type LayoutRequest,
  type GraphLayout,
  createLayoutRequest,
} from "./geometry.ts";
import type { GraphStep } from "./steps.ts";

/** More cards than these are a wall and no picture, and would keep the page busy. */
const MOST_STEPS = 1_000;
const MOST_EDGES = 10_000;

export type LayoutState =
  | { state: "waiting" }
  | { state: "placed"; placement: GraphLayout; ids: readonly string[] }
  | { state: "too-large" }
  | { state: "failed" };

const WAITING: LayoutState = { state: "waiting" };

/**
 * The layout of these steps. It is computed anew only where ids or edges change, and until then the one before stays.
 * @param direction null while it is not known
 */
export function useLayout(
  steps: readonly Pick<GraphStep, "id" | "needs">[],
  direction: Direction | null,
): LayoutState {
  const shape = JSON.stringify(steps.map(({ id, needs }) => [id, needs]));
  const [last, setLast] = useState<LayoutState>(WAITING);
  const asked = useMemo(() => {
    const known = (JSON.parse(shape) as [string, string[]][]).map(([id, needs]) => ({ id, needs }));
    return { ids: known.map(({ id }) => id), request: direction && createLayoutRequest(known, direction) };
  }, [shape, direction]);
  const tooLarge = asked.request !== null && !isDrawable(asked.request);
  useEffect(() => {
    const { ids, request } = asked;
    if (request === null || tooLarge) return;
    return placeInWorker(request, (answer) =>
      setLast(typeof answer === "string" ? { state: answer } : { state: "placed", placement: answer, ids }),
    );
  }, [asked, tooLarge]);
  return tooLarge ? { state: "too-large" } : last;
}

const isDrawable = ({ needs }: LayoutRequest): boolean =>
  needs.length <= MOST_STEPS && needs.reduce((sum, it) => sum + it.length, 0) <= MOST_EDGES;

/**
 * Asks a worker of its own.
 * @returns ends the worker: no answer comes after it
 */
function placeInWorker(
  request: LayoutRequest,
  tell: (answer: GraphLayout | "too-large" | "failed") => void,
): () => void {
  const worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    worker.terminate();
  };
  const tellAndEnd: typeof tell = (answer) => {
    end();
    tell(answer);
  };
  worker.onerror = () => tellAndEnd("failed");
  worker.onmessage = ({ data }: MessageEvent<GraphLayout | "ready">) => {
    if (data !== "ready") return tellAndEnd(data);
    timer = setTimeout(() => tellAndEnd("too-large"), LAYOUT_LIMIT_MS);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has no origin to name
    worker.postMessage(request);
  };
  return end;
}
