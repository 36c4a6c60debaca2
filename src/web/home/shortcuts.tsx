/** The favourites of the user, and what they opened last. */
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/home";
import { useSession } from "../app/session.tsx";
import { bookmarksQuery } from "../bookmarks/bookmarks.ts";
import { addressOf, readVisits } from "../palette/recent.ts";
import { HomeCard } from "./home-card.tsx";
import { ListEntry } from "./lists.tsx";

const SHOWN = 6;

export function Shortcuts() {
  const { user } = useSession();
  const { data: bookmarks } = useQuery(bookmarksQuery);
  const [visits] = useState(() => readVisits(user.id));
  const favorites = bookmarks?.favorites ?? [];
  const starred = new Set(favorites.map(({ workflow_id: id }) => id));
  const recent = visits.filter(({ id }) => !starred.has(id)).slice(0, SHOWN);
  return (
    <HomeCard title={texts.shortcuts} to="/workflows">
      {favorites.length + recent.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.noShortcuts}
        </Text>
      ) : (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {favorites.slice(0, SHOWN).map(({ workflow_id: id, name }) => (
            <li key={id}>
              <ListEntry to={`/workflows/${id}`} label={name} details={`★ ${id}`} />
            </li>
          ))}
          {recent.map((visit) => (
            <li key={`${visit.kind} ${visit.id}`}>
              <ListEntry to={addressOf(visit)} label={visit.label} details={visit.id} />
            </li>
          ))}
        </Stack>
      )}
    </HomeCard>
  );
}
