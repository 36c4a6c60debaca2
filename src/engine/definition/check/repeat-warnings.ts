/** Warns of effects that may happen twice, because an attempt that ends without an answer is repeated. */
import type { Connections } from "../../../core/connections.ts";
import { type EffectTarget, effectTargetOf, interruptionRuleOf } from "../../../core/interruption-rules.ts";
import type { LocatedIssue } from "./check-report.ts";
import type { ParsedStep } from "./schema-check.ts";

/** @param readOnly the positions of steps whose receiver declares that they only read */
export function repeatWarnings(
  steps: readonly ParsedStep[],
  readOnly: ReadonlySet<number>,
  connections: Pick<Connections, "defaultDatabase" | "interruptionRules">,
): LocatedIssue[] {
  return steps.flatMap(({ type, parsed, lookup }, index) => {
    if (type?.sendsIdempotencyKey !== true || parsed === undefined || !type.hasEffects(parsed)) return [];
    const { idempotent, onInterrupted } = interruptionRuleOf(type, parsed, connections);
    if (idempotent || onInterrupted !== null || lookup !== undefined || readOnly.has(index)) return [];
    const { receiver, declaration } = wordsFor(effectTargetOf(type, parsed, connections));
    return [
      {
        path: ["steps", index],
        code: "may_repeat",
        severity: "warning",
        message: `has effects, and is sent again after an attempt without an answer: ${receiver}`,
        fix: `Add on_interrupted: ask (a person decides), fail, or retry if a second request does no harm; or a lookup. ${declaration}`,
      },
    ];
  });
}

function wordsFor(target: EffectTarget | null): { receiver: string; declaration: string } {
  if (target === null)
    return {
      receiver: "the host is known only when it runs",
      declaration: "The operator can declare hosts in http.hosts.",
    };
  const receiver = "url" in target ? hostOf(target.url) : target.resource.replace(/^[^:]*:/, "");
  return {
    receiver: `${receiver} is not declared to recognize its idempotency key`,
    declaration: `The operator can declare ${"url" in target ? "the host in http.hosts" : "the server in mcp_servers"}.`,
  };
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;
