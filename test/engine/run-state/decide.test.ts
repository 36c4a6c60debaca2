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
import { type StepState, StepStates } from "../../../src/core/step-states.ts";
import { decide } from "../../../src/engine/run-state/decide.ts";
import { graphOf } from "../../../src/engine/definition/graph.ts";

/** Steps with any dependencies that form no cycle. */
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

const END = constantFrom<StepState[]>("succeeded", "skipped", "failed_continued", "failed");

/** The rules, applied to the whole graph one after the other, without regard to speed. */
function naive(
  all: readonly { id: string; needs?: readonly string[] | undefined }[],
  states: Map<string, StepState>,
) {
  const before = (index: number): readonly string[] =>
    all[index]!.needs ?? (index === 0 ? [] : [all[index - 1]!.id]);
  if ([...states.values()].includes("failed")) return { ready: [] as string[], failed: true };
  const ready = all
    .filter((one, index) => {
      const done = before(index).every((id) =>
        ["succeeded", "skipped", "failed_continued"].includes(states.get(id)!),
      );
      return states.get(one.id) === "pending" && done;
    })
    .map((one) => one.id);
  return { ready, failed: false };
}

describe("decide", () => {
  it("starts and ends the same steps as a naive model, whatever order the steps end in", () => {
    assert(
      property(steps, infiniteStream(END), infiniteStream(nat()), (all, ends, picks) => {
        const graph = graphOf(all);
        const model = new Map<string, StepState>(all.map((one) => [one.id, "pending"]));
        let states = StepStates.allPending(all.length);
        for (let turn = 0; turn <= all.length + 1; turn += 1) {
          const running = all.filter((_, index) => states.at(index) === "queued");
          const wanted = naive(all, model);
          const got = decide(graph, states, { stopping: false, activeCount: running.length });
          expect(got.start.map((index) => all[index]!.id)).toEqual(wanted.ready);
          for (const id of wanted.ready) model.set(id, "queued");
          if (wanted.failed)
            for (const [id, state] of model) if (state === "pending") model.set(id, "cancelled");
          states = got.states;
          expect(states.list).toEqual(all.map((one) => model.get(one.id)));
          const active = all.filter((one: { id: string }) => model.get(one.id) === "queued");
          const over = active.length === 0;
          expect(got.next).toBe(!over ? "continue" : wanted.failed ? "end" : "finish");
          if (over) return;
          const next = active[picks.next().value % active.length]!;
          const end = ends.next().value;
          model.set(next.id, end);
          const at = all.findIndex((one) => one.id === next.id);
          states = states.with(at, end);
        }
        expect.unreachable("a run of steps without cycles ends");
      }),
    );
  });

  it("waits when only waits are left", () => {
    const graph = graphOf([{ id: "a" }, { id: "b", needs: [] }, { id: "c" }]);
    expect(
      decide(graph, new StepStates(["waiting", "succeeded", "pending"]), { stopping: false, activeCount: 0 }),
    ).toEqual({
      states: new StepStates(["waiting", "succeeded", "queued"]),
      start: [2],
      next: "continue",
    });
    expect(
      decide(graph, new StepStates(["waiting", "succeeded", "succeeded"]), {
        stopping: false,
        activeCount: 0,
      }).next,
    ).toBe("wait");
  });

  it("starts nothing in a stopped run, and ends it once nothing is active", () => {
    const graph = graphOf([{ id: "a" }, { id: "b", needs: [] }, { id: "c" }]);
    expect(
      decide(graph, new StepStates(["queued", "waiting", "pending"]), { stopping: true, activeCount: 1 }),
    ).toEqual({
      states: new StepStates(["queued", "cancelled", "cancelled"]),
      start: [],
      next: "continue",
    });
    expect(
      decide(graph, new StepStates(["cancelled", "cancelled", "cancelled"]), {
        stopping: true,
        activeCount: 0,
      }).next,
    ).toBe("end");
  });
});
