/** Computes the layout of a graph in a worker with a time limit, so that the main thread is never blocked. */
import { useEffect, useMemo, useState } from "react";
import {
  type Direction,
  LAYOUT_LIMIT_MS,
  type LayoutRequest,
  type GraphLayout,
  createLayoutRequest,
} from "./geometry.ts";
import type { GraphStep } from "./steps.ts";

/** Maximum size of a drawn graph: a larger one is unreadable and would slow the page down. Its steps are listed instead. */
const MAX_STEPS = 1_000;
const MAX_EDGES = 10_000;

export type LayoutState =
  | { state: "loading" }
  | { state: "ready"; layout: GraphLayout; ids: readonly string[] }
  | { state: "too-large" }
  | { state: "failed" };

const LOADING: LayoutState = { state: "loading" };

/**
 * The layout of these steps. It is recomputed when ids or edges change; until then the previous one is returned.
 * @param direction null while the width is unknown
 */
export function useLayout(
  steps: readonly Pick<GraphStep, "id" | "needs">[],
  direction: Direction | null,
): LayoutState {
  const shape = JSON.stringify(steps.map(({ id, needs }) => [id, needs]));
  const [last, setLast] = useState<LayoutState>(LOADING);
  const layoutInput = useMemo(() => {
    const edges = (JSON.parse(shape) as [string, string[]][]).map(([id, needs]) => ({ id, needs }));
    return { ids: edges.map(({ id }) => id), request: direction && createLayoutRequest(edges, direction) };
  }, [shape, direction]);
  const tooLarge = layoutInput.request !== null && !isDrawable(layoutInput.request);
  useEffect(() => {
    const { ids, request } = layoutInput;
    if (request === null || tooLarge) return;
    return layoutInWorker(request, (answer) =>
      setLast(typeof answer === "string" ? { state: answer } : { state: "ready", layout: answer, ids }),
    );
  }, [layoutInput, tooLarge]);
  return tooLarge ? { state: "too-large" } : last;
}

const isDrawable = ({ needs }: LayoutRequest): boolean =>
  needs.length <= MAX_STEPS && needs.reduce((sum, it) => sum + it.length, 0) <= MAX_EDGES;

/**
 * Starts a worker for one layout.
 * @returns a function that terminates the worker, after which `onResult` is not called
 */
function layoutInWorker(
  request: LayoutRequest,
  onResult: (answer: GraphLayout | "too-large" | "failed") => void,
): () => void {
  let end = startWorker(request, (answer) => {
    // What dagre does not finish in time is laid out in a simpler way, which takes milliseconds.
    if (answer === "too-large" && request.isSimple !== true)
      end = startWorker({ ...request, isSimple: true }, onResult);
    else onResult(answer);
  });
  return () => end();
}

function startWorker(
  request: LayoutRequest,
  onResult: (answer: GraphLayout | "too-large" | "failed") => void,
): () => void {
  const worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    worker.terminate();
  };
  const finish: typeof onResult = (answer) => {
    end();
    onResult(answer);
  };
  worker.onerror = () => finish("failed");
  worker.onmessage = ({ data }: MessageEvent<GraphLayout | "loaded">) => {
    if (data !== "loaded") return finish(data);
    timer = setTimeout(() => finish("too-large"), LAYOUT_LIMIT_MS);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no target origin
    worker.postMessage(request);
  };
  return end;
}
