/** A card of the home page: a heading with a link to the whole list. */
import { Anchor, Card, Group, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/home";

interface Props {
  title: string;
  /** Path of the full list. */
  to?: string;
  children: ReactNode;
}

export function HomeCard({ title, to, children }: Props) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {title}
          </Title>
          {to !== undefined && (
            <Anchor component={Link} to={to} size="sm" aria-label={texts.allOf({ title })}>
              {texts.all}
            </Anchor>
          )}
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
