/** The workflows that a person has opened in this browser, the last one first. Only their ids are kept. */

const MAX_RECENT = 6;
const keyOf = (userId: string): string => `millrace-recent-${userId}`;

export function recentWorkflows(userId: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(userId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string").slice(0, MAX_RECENT) : [];
  } catch {
    // Storage may be off, and anyone with this browser can write to it.
    return [];
  }
}

export function rememberWorkflow(userId: string, workflowId: string): void {
  const recent = [workflowId, ...recentWorkflows(userId).filter((id) => id !== workflowId)];
  try {
    localStorage.setItem(keyOf(userId), JSON.stringify(recent.slice(0, MAX_RECENT)));
  } catch {
    // Without storage nothing is remembered.
  }
}
