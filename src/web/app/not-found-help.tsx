/** Shown for an address that leads to nothing: what was looked for, what was probably meant, and the way back. */
import { Anchor, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import * as texts from "#texts/app";
import { findNearMatches } from "./near-matches.ts";

interface Props {
  title: string;
  /** The address or the id. */
  lookedFor: string;
  /** What to search workflows for; empty for no suggestions. */
  words: readonly string[];
  /** Why it may be missing; left out for an address. */
  children?: ReactNode;
}

export function NotFoundHelp({ title, lookedFor, words, children }: Props) {
  const navigate = useNavigate();
  const { data: matches = [] } = useQuery({
    queryKey: ["workflows", "near", words],
    queryFn: ({ signal }) => findNearMatches(words, signal),
    enabled: words.length > 0,
    staleTime: 60_000,
  });
  return (
    <Stack gap="md" maw={640}>
      <Text fw={600}>{title}</Text>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {texts.lookedFor({ address: <Code>{lookedFor}</Code>, reason: children ?? texts.mayBeMisspelt })}
      </Text>
      {matches.length > 0 && (
        <Stack gap={4}>
          <Text size="sm">{texts.didYouMean}</Text>
          <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {matches.map(({ id, name }) => (
              <li key={id}>
                <Anchor component={Link} to={`/workflows/${id}`} size="sm">
                  {name}
                </Anchor>{" "}
                <Text span size="xs" c="dimmed">
                  {id}
                </Text>
              </li>
            ))}
          </Stack>
        </Stack>
      )}
      <Group gap="xs">
        {history.length > 1 && (
          <Button variant="default" onClick={() => void navigate(-1)}>
            {texts.goBack}
          </Button>
        )}
        <Button component={Link} to="/" variant="default">
          {texts.home}
        </Button>
        <Button component={Link} to="/workflows" variant="default">
          {texts.allWorkflows}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {texts.searchHint}
      </Text>
    </Stack>
  );
}
