import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type ConnectionLimits, connectionLimiter } from "../../src/surfaces/connection-limit.ts";

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  isBusy = false;
  isOpen = true;
  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }
  destroy(): void {
    this.isOpen = false;
    this.emit("close");
  }
}

function open(limits: Partial<ConnectionLimits> = {}) {
  const closed: unknown[] = [];
  const limiter = connectionLimiter(
    {
      total: 16,
      clientOf: (address) => (address === "proxy" ? undefined : address),
      onClosed: (one) => closed.push(one),
      ...limits,
    },
    (socket) => !(socket as unknown as FakeSocket).isBusy,
  );
  function connect(address: string | undefined, { isBusy = false } = {}) {
    const socket = new FakeSocket(address);
    socket.isBusy = isBusy;
    if (!limiter.admit(socket as unknown as Socket)) socket.isOpen = false;
    return socket;
  }
  const connectMany = (count: number, address: string, options?: { isBusy: boolean }) =>
    Array.from({ length: count }, () => connect(address, options));
  return {
    closed,
    connect,
    connectMany,
    use: (one: FakeSocket) => limiter.recordUse(one as unknown as Socket),
  };
}

const openOf = (sockets: readonly FakeSocket[]) => sockets.map(({ isOpen }) => isOpen);

describe("a limit of connections", () => {
  it("leaves a quarter to others, and closes the least recently used connection of who wants more", () => {
    const { connect, connectMany, use, closed } = open();
    const sockets = connectMany(12, "a");
    expect(openOf(sockets)).not.toContain(false);
    use(sockets[0]!);
    expect(connect("a").isOpen).toBe(true);
    expect(sockets.findIndex(({ isOpen }) => !isOpen)).toBe(1);
    expect(closed).toEqual([{ client: "a", isNew: false }]);
    expect(openOf(connectMany(3, "b"))).toEqual([true, true, true]);
    expect(openOf(sockets).filter(Boolean)).toHaveLength(11);
  });

  it("closes an idle connection of who has most when all are taken", () => {
    const { connect, connectMany, closed } = open({ perClient: 16 });
    const [many, few] = [connectMany(10, "a"), connectMany(6, "b")];
    expect(connect("c").isOpen).toBe(true);
    expect(openOf(many)).toEqual([false, ...Array<boolean>(9).fill(true)]);
    expect(openOf(few)).not.toContain(false);
    expect(closed).toEqual([{ client: "a", isNew: false }]);
  });

  it("closes no connection with a request in progress, and then refuses the new one", () => {
    const { connect, connectMany, closed } = open({ perClient: 16 });
    const busy = connectMany(15, "a", { isBusy: true });
    const idle = connect("b");
    expect(connect("c", { isBusy: true }).isOpen).toBe(true);
    expect(idle.isOpen).toBe(false);
    expect(connect("d").isOpen).toBe(false);
    expect(openOf(busy)).not.toContain(false);
    expect(closed).toEqual([
      { client: "b", isNew: false },
      { client: "d", isNew: true },
    ]);
    busy[0]!.destroy();
    expect(connect("d").isOpen).toBe(true);
  });

  it("holds a client to its own limit, and a proxy only to that of all", () => {
    const { connectMany } = open({ perClient: 2 });
    expect(openOf(connectMany(3, "a", { isBusy: true }))).toEqual([true, true, false]);
    expect(openOf(connectMany(15, "proxy", { isBusy: true })).filter(Boolean)).toHaveLength(14);
  });

  it("refuses a connection that has ended before it is seen", () => {
    expect(open().connect(undefined).isOpen).toBe(false);
  });
});
