/** Events in the order of their virtual times, as a binary heap. */
interface Event {
  at: number;
  /** Events of the same time happen in the order in which they were added. */
  order: number;
  happen(): void;
}

export interface EventQueue {
  now(): number;
  after(delay: number, happen: () => void): void;
  /** Lets events happen until none is left before `end`, which is then the time. */
  runUntil(end: number): void;
}

export function eventQueue(): EventQueue {
  const heap: Event[] = [];
  let now = 0;
  let added = 0;

  const isBefore = (a: number, b: number): boolean =>
    heap[a]!.at < heap[b]!.at || (heap[a]!.at === heap[b]!.at && heap[a]!.order < heap[b]!.order);
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };

  function rise(index: number): void {
    for (let child = index; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  }

  function sink(): void {
    for (let parent = 0; ;) {
      let first = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < heap.length && isBefore(child, first)) first = child;
      if (first === parent) return;
      swap(first, parent);
      parent = first;
    }
  }

  function takeFirst(): Event {
    swap(0, heap.length - 1);
    const event = heap.pop()!;
    if (heap.length > 0) sink();
    return event;
  }

  return {
    now: () => now,
    after(delay, happen) {
      heap.push({ at: now + delay, order: added, happen });
      added += 1;
      rise(heap.length - 1);
    },
    runUntil(end) {
      while (heap.length > 0 && heap[0]!.at <= end) {
        const event = takeFirst();
        now = event.at;
        event.happen();
      }
      now = end;
    },
  };
}
