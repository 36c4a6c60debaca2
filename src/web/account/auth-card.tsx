/** The card around the pages that need no session, such as sign-in. */
import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { serverPath } from "../app/base-path.ts";

export function AuthCard({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group gap={8} justify="center">
        <img src={serverPath("/ui/icon.svg")} alt="" width={30} height={30} />
        <Text fw={700} size="lg">
          Millrace
        </Text>
      </Group>
      <Paper withBorder p="xl" radius="md">
        <Stack gap="md">
          <Title order={1} size="h3">
            {title}
          </Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {about}
            </Text>
          )}
          {children}
        </Stack>
      </Paper>
    </Stack>
  );
}
