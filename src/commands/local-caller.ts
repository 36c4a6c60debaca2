/** Calls operations on the state of this machine, as the operator. */
import type { Caller } from "./caller.ts";
import { OPERATOR_ACTOR, type Operator } from "./operator.ts";

export const localCaller = ({ call, services: { engine } }: Pick<Operator, "call" | "services">): Caller => ({
  call,
  checkFile: (text, { project, selfId, checkConnections = true }) =>
    engine.check(text, {
      project,
      checkConnections,
      allowFileFields: true,
      owner: OPERATOR_ACTOR.principal.lineage,
      signal: new AbortController().signal,
      ...(selfId !== undefined && { selfId }),
    }),
});
