import { ActionIcon, Tooltip } from "@mantine/core";
import { IconStar, IconStarFilled } from "@tabler/icons-react";
import * as texts from "#texts/bookmarks";
import { useIsFavorite, useUpdateBookmarks } from "./bookmarks.ts";

/** The star that makes a workflow a favourite of the user. */
export function FavoriteButton({ workflowId, name }: { workflowId: string; name: string }) {
  const isFavorite = useIsFavorite(workflowId);
  const update = useUpdateBookmarks();
  const Icon = isFavorite === true ? IconStarFilled : IconStar;
  return (
    <Tooltip label={isFavorite === true ? texts.removeFavorite : texts.addFavorite}>
      <ActionIcon
        variant="subtle"
        color={isFavorite === true ? "yellow" : "gray"}
        aria-label={texts.favorite({ name })}
        aria-pressed={isFavorite ?? false}
        disabled={isFavorite === undefined}
        loading={update.isPending}
        onClick={() =>
          update.mutate(
            isFavorite === true ? { remove_favorites: [workflowId] } : { add_favorites: [workflowId] },
          )
        }
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
