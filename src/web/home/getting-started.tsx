/** Shown on the home page until something has run: three ways to start. */
import { Anchor, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { IconBrowser, IconRobot, IconTerminal2 } from "@tabler/icons-react";
import type { ComponentType, ReactNode } from "react";
import { Link } from "react-router";
import { serverPath, serverUrl } from "../app/base-path.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { clientSetups, curlCommand, API_KEY_PLACEHOLDER } from "../connect/clients.ts";
import { Snippet } from "../ui/copy.tsx";

export function GettingStarted({ workflows }: { workflows: readonly Workflow[] }) {
  const { mcp_url: url } = useSession();
  const hasScope = useHasScope();
  const [firstWorkflow] = workflows;
  return (
    <Stack>
      <Text maw={720}>
        An agent starts from scratch every time. A workflow is written once, checked, and then runs the same
        way for everyone. Nothing has run yet. There are three ways to start.
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <StartCard Icon={IconRobot} title="With an agent">
          <Text size="sm">
            Connect an agent over MCP with an{" "}
            <Anchor component={Link} to="/keys" size="sm">
              API key
            </Anchor>
            , then tell it what you need.
          </Text>
          <Snippet text={clientSetups(url, API_KEY_PLACEHOLDER)[0]!.text} label="command for Claude Code" />
          <Anchor component={Link} to="/connect" size="sm">
            Connect another client
          </Anchor>
        </StartCard>
        <StartCard Icon={IconTerminal2} title="With a script">
          <Text size="sm">Every operation is an HTTP request with an API key.</Text>
          <Snippet text={curlCommand(serverUrl(), API_KEY_PLACEHOLDER)} label="curl command" />
          <Anchor href={serverPath("/apidoc/")} size="sm">
            API reference
          </Anchor>
        </StartCard>
        <StartCard Icon={IconBrowser} title="In the browser">
          <Text size="sm">
            {firstWorkflow === undefined
              ? "Start from a template, change it, and run it."
              : "Run an existing workflow and follow its steps."}
          </Text>
          <Group gap="xs">
            {firstWorkflow !== undefined && hasScope("run") && (
              <Button component={Link} to={`/workflows/${firstWorkflow.id}/run`} size="sm">
                Run {firstWorkflow.name}
              </Button>
            )}
            {hasScope("write") && (
              <Button
                component={Link}
                to="/workflows/new"
                size="sm"
                variant={firstWorkflow === undefined ? "filled" : "default"}
              >
                New workflow
              </Button>
            )}
            <Button component={Link} to="/workflows" size="sm" variant="default">
              All workflows
            </Button>
          </Group>
        </StartCard>
      </SimpleGrid>
    </Stack>
  );
}

interface StartCardProps {
  Icon: ComponentType<{ size?: number; "aria-hidden"?: boolean }>;
  title: string;
  children: ReactNode;
}

function StartCard({ Icon, title, children }: StartCardProps) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm">
        <Group gap="xs">
          <Icon size={22} aria-hidden />
          <Title order={2} size="h4">
            {title}
          </Title>
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
