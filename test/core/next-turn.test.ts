import { describe, expect, it } from "vitest";
import { nextTurn, nextTurnIfLarge } from "../../src/core/next-turn.ts";

/** Counts the turns of the event loop until `work` has ended. @returns the turn at the time of each call of `mark` */
async function turnsOf(work: (mark: () => void) => Promise<unknown>): Promise<number[]> {
  const marked: number[] = [];
  let turn = 0;
  let counting: NodeJS.Immediate;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  counting = setImmediate(count);
  await work(() => marked.push(turn));
  clearImmediate(counting);
  return marked;
}

describe("long steps of work", () => {
  it("begin one by one, each in a later turn of the event loop, in their order", async () => {
    const order: number[] = [];
    const turns = await turnsOf((mark) =>
      Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          await nextTurn();
          order.push(index);
          mark();
        }),
      ),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const [index, turn] of turns.slice(1).entries()) expect(turn - turns[index]!).toBeGreaterThan(1);
  });

  it("wait for a turn only if the text is large", async () => {
    const [small, large] = await turnsOf(async (mark) => {
      await nextTurnIfLarge(1_000);
      mark();
      await nextTurnIfLarge(100_000);
      mark();
    });
    expect([small, large! > 0]).toEqual([0, true]);
  });
});
