/** The loops of the language: functions whose second argument names a variable that the third may use. */
export const LOOPS = {
  all: "list.all(x, condition)",
  exists: "list.exists(x, condition)",
  exists_one: "list.exists_one(x, condition)",
  filter: "list.filter(x, condition)",
  map: "list.map(x, value) or list.map(x, condition, value)",
  sort_by: 'list.sort_by(x, key) or list.sort_by(x, key, "desc")',
  group_by: "list.group_by(x, key)",
} as const;

export type LoopName = keyof typeof LOOPS;

export const isLoop = (name: string): name is LoopName => Object.hasOwn(LOOPS, name);

/** Whether a loop has an optional argument: `map` a condition before the value, `sort_by` a direction after the key. */
export const hasOptionalArgument = (name: LoopName): boolean => name === "map" || name === "sort_by";
