/** People in the model: who is the same person, and who stands in for whom. */
import type { Actor, State } from "./state.ts";

/** A person is the same with all addresses that differ in a tag. */
export const subjectOf = (email: string): string => email.replace(/\+[^@]*@/, "@");
export const isAlive = ({ people }: State, { owner, isValid }: Actor): boolean =>
  isValid && people.get(owner)?.isActive !== false;
/** Whom somebody stands in for, also through others who are away. */
export function absenteesOf({ absences }: State, email: string): string[] {
  const found = new Set([email]);
  for (const person of found)
    for (const [away, substitute] of absences) if (substitute === person) found.add(away);
  return [...found].slice(1);
}
