/** How the fields with suggestions find them: as the lists of the server do, whatever the case and the form of the letters. */
import { type ComboboxItem, isOptionsGroup, type OptionsFilter } from "@mantine/core";
import { foldText, isSameText } from "../../../schemas/fold-text.ts";

/** Like Mantine's own filter, which neither folds nor normalizes. */
export const filterOptions: OptionsFilter = ({ options, search, limit }) => {
  const text = foldText(search.trim());
  const matches = ({ label }: ComboboxItem): boolean => foldText(label).includes(text);
  return options
    .flatMap((option) => {
      if (isOptionsGroup(option)) return { ...option, items: option.items.filter(matches) };
      return matches(option) ? option : [];
    })
    .slice(0, limit);
};

/** Whether a list has a tag already. */
export const isDuplicate = (tag: string, tags: readonly string[]): boolean =>
  tags.some((one) => isSameText(one, tag));

/** The distinct tags, sorted; of equal ones the first. */
export const distinctTags = (tags: readonly string[]): string[] =>
  [...new Map(tags.toReversed().map((tag) => [foldText(tag), tag])).values()].toSorted();
