import {
  assert,
  constant,
  constantFrom,
  infiniteStream,
  integer,
  nat,
  option,
  property,
  record,
  subarray,
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../../src/engine/run-state/decide.ts";
import { graphOf } from "../../../src/engine/definition/graph.ts";

/** Steps in any order of dependencies that has no circle. */
const steps = integer({ min: 1, max: 12 }).chain((count) =>
  tuple(
    ...Array.from({ length: count }, (_, index) =>
      record({
        id: constant(`s${index}`),
        needs: option(subarray(Array.from({ length: index }, (__, before) => `s${before}`)), {
          nil: undefined,
        }),
      }),
    ),
  ),
);

const END = constantFrom("s", "k", "e", "f");

/** The rules, one after the other, over the whole graph, without a thought for speed. */
function naive(
  all: readonly { id: string; needs?: readonly string[] | undefined }[],
  states: Map<string, string>,
) {
  const before = (index: number): readonly string[] =>
    all[index]!.needs ?? (index === 0 ? [] : [all[index - 1]!.id]);
  if ([...states.values()].includes("f")) return { ready: [] as string[], failed: true };
  const ready = all
    .filter((one, index) => {
      const done = before(index).every((id) => ["s", "k", "e"].includes(states.get(id)!));
      return states.get(one.id) === "p" && done;
    })
    .map((one) => one.id);
  return { ready, failed: false };
}

describe("decide", () => {
  it("starts what a naive model starts, and ends when it does, whatever order the steps end in", () => {
    assert(
      property(steps, infiniteStream(END), infiniteStream(nat()), (all, ends, picks) => {
        const graph = graphOf(all);
        const model = new Map<string, string>(all.map((one) => [one.id, "p"]));
        let states = "p".repeat(all.length);
        for (let turn = 0; turn <= all.length + 1; turn += 1) {
          const running = all.filter((_, index) => states[index] === "q");
          const wanted = naive(all, model);
          const got = decide(graph, states, { stopping: false, activeCount: running.length });
          expect(got.start.map((index) => all[index]!.id)).toEqual(wanted.ready);
          for (const id of wanted.ready) model.set(id, "q");
          if (wanted.failed) for (const [id, state] of model) if (state === "p") model.set(id, "c");
          states = got.states;
          expect(states).toBe(all.map((one) => model.get(one.id)).join(""));
          const active = all.filter((one: { id: string }) => model.get(one.id) === "q");
          const over = active.length === 0;
          expect(got.next).toBe(!over ? "go_on" : wanted.failed ? "end" : "finish");
          if (over) return;
          const next = active[picks.next().value % active.length]!;
          const end = ends.next().value;
          model.set(next.id, end);
          const at = all.findIndex((one) => one.id === next.id);
          states = states.slice(0, at) + end + states.slice(at + 1);
        }
        expect.unreachable("a run of steps without circles ends");
      }),
    );
  });

  it("waits when only waits are left", () => {
    const graph = graphOf([{ id: "a" }, { id: "b", needs: [] }, { id: "c" }]);
    expect(decide(graph, "wsp", { stopping: false, activeCount: 0 })).toEqual({
      states: "wsq",
      start: [2],
      next: "go_on",
    });
    expect(decide(graph, "wss", { stopping: false, activeCount: 0 }).next).toBe("wait");
  });

  it("starts nothing when the run is to stop, and ends once nothing is under way", () => {
    const graph = graphOf([{ id: "a" }, { id: "b", needs: [] }, { id: "c" }]);
    expect(decide(graph, "qwp", { stopping: true, activeCount: 1 })).toEqual({
      states: "qcc",
      start: [],
      next: "go_on",
    });
    expect(decide(graph, "ccc", { stopping: true, activeCount: 0 }).next).toBe("end");
  });
});
