/** The ids of the triggers of a definition, which may have issues. */
export function triggerIds(definition: Readonly<Record<string, unknown>> | null): string[] {
  const triggers = definition?.["triggers"];
  if (!Array.isArray(triggers)) return [];
  return (triggers as unknown[]).flatMap((trigger) => {
    const id = typeof trigger === "object" && trigger !== null ? (trigger as { id?: unknown }).id : undefined;
    return typeof id === "string" ? [id] : [];
  });
}
