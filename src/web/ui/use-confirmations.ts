import { useState } from "react";

export interface Confirmations {
  confirmed: ReadonlySet<string>;
  /** Whether nothing is left to confirm. */
  isComplete: boolean;
  onConfirm: (id: string, isConfirmed: boolean) => void;
}

/** Which of the things that a refusal names the user confirms. */
export function useConfirmations(ids: readonly string[]): Confirmations {
  const [confirmed, setConfirmed] = useState<ReadonlySet<string>>(new Set());
  return {
    confirmed,
    isComplete: ids.every((id) => confirmed.has(id)),
    onConfirm: (id, isConfirmed) => {
      const others = [...confirmed].filter((other) => other !== id);
      setConfirmed(new Set(isConfirmed ? [...others, id] : others));
    },
  };
}
