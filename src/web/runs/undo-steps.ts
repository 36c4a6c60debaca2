/** The steps of a run that undo others: their ids begin with `undo:`. */
const PREFIX = "undo:";

export const isUndoStep = ({ id }: { id: string }): boolean => id.startsWith(PREFIX);
