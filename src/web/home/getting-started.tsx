/** Shown on the home page until something has run: three ways to start. */
import { Anchor, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { IconBrowser, IconRobot, IconTerminal2 } from "@tabler/icons-react";
import type { ComponentType, ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/home";
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
      <Text maw={720}>{texts.introduction}</Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <StartCard Icon={IconRobot} title={texts.withAgent}>
          <Text size="sm">{texts.withAgentHelp({ key: linkToKeys })}</Text>
          <Snippet text={clientSetups(url, API_KEY_PLACEHOLDER)[0]!.text} label={texts.claudeCommand} />
          <Anchor component={Link} to="/connect" size="sm">
            {texts.connectAnother}
          </Anchor>
        </StartCard>
        <StartCard Icon={IconTerminal2} title={texts.withScript}>
          <Text size="sm">{texts.withScriptHelp}</Text>
          <Snippet text={curlCommand(location.origin, API_KEY_PLACEHOLDER)} label={texts.curlCommand} />
          <Anchor href="/apidoc/" size="sm">
            {texts.apiReference}
          </Anchor>
        </StartCard>
        <StartCard Icon={IconBrowser} title={texts.inBrowser}>
          <Text size="sm">{firstWorkflow === undefined ? texts.startFromTemplate : texts.runExisting}</Text>
          <Group gap="xs">
            {firstWorkflow !== undefined && hasScope("run") && (
              <Button component={Link} to={`/workflows/${firstWorkflow.id}/run`} size="sm">
                {texts.runWorkflow({ name: firstWorkflow.name })}
              </Button>
            )}
            {hasScope("write") && (
              <Button
                component={Link}
                to="/workflows/new"
                size="sm"
                variant={firstWorkflow === undefined ? "filled" : "default"}
              >
                {texts.newWorkflow}
              </Button>
            )}
            <Button component={Link} to="/workflows" size="sm" variant="default">
              {texts.allWorkflows}
            </Button>
          </Group>
        </StartCard>
      </SimpleGrid>
    </Stack>
  );
}

const linkToKeys = (text: ReactNode) => (
  <Anchor component={Link} to="/keys" size="sm">
    {text}
  </Anchor>
);

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
