import { useEffect, useRef, useState } from "react";
import type { RunStep } from "../../../schemas/run.ts";

/** Counts the reports of steps that wait for a decision: each decision, reminder and escalation is one. */
export function useApprovalReports(steps: readonly RunStep[]): number {
  const [count, setCount] = useState(0);
  const before = useRef<readonly RunStep[]>([]);
  useEffect(() => {
    const waiting = steps.filter(({ type, status }) => type === "approval" && status === "waiting");
    if (waiting.some((step, index) => step !== before.current[index])) setCount((reports) => reports + 1);
    before.current = waiting;
  }, [steps]);
  return count;
}
