/** While nothing has run: the three ways in, each with something to copy or to click. */
import { Anchor, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { IconBrowser, IconRobot, IconTerminal2 } from "@tabler/icons-react";
import type { ComponentType, ReactNode } from "react";
import { Link } from "react-router";
import type { Workflow } from "../../../schemas/workflow.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { clientSetups, curlCommand, API_KEY_PLACEHOLDER } from "../connect/clients.ts";
import { Snippet } from "../ui/copy.tsx";

export function GettingStarted({ workflows }: { workflows: readonly Workflow[] }) {
  const { mcp_url: url } = useSession();
  const may = useHasScope();
  const [first] = workflows;
  return (
    <Stack>
      <Text maw={720}>
        Work that an agent would do afresh each time is written down here once, checked, and then run the same
        way by anybody. Nothing has run yet; begin in one of three ways.
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <Way Icon={IconRobot} title="An agent writes it">
          <Text size="sm">
            Connect one over MCP, with a{" "}
            <Anchor component={Link} to="/keys" size="sm">
              key
            </Anchor>
            , and tell it what you need.
          </Text>
          <Snippet text={clientSetups(url, API_KEY_PLACEHOLDER)[0]!.text} label="command for Claude Code" />
          <Anchor component={Link} to="/connect" size="sm">
            Other clients, step by step
          </Anchor>
        </Way>
        <Way Icon={IconTerminal2} title="A script calls it">
          <Text size="sm">Every operation is a request with a key.</Text>
          <Snippet text={curlCommand(location.origin, API_KEY_PLACEHOLDER)} label="curl command" />
          <Anchor href="/apidoc/" size="sm">
            API reference, with forms to try it
          </Anchor>
        </Way>
        <Way Icon={IconBrowser} title="You write or run it here">
          <Text size="sm">
            {first === undefined
              ? "Begin with a template, change it, and see what it does."
              : `${workflows.length === 1 ? "One is" : "Some are"} there already. Run one and look at its steps.`}
          </Text>
          <Group gap="xs">
            {first !== undefined && may("run") && (
              <Button component={Link} to={`/workflows/${first.id}/run`} size="sm">
                Run {first.name}
              </Button>
            )}
            {may("write") && (
              <Button
                component={Link}
                to="/workflows/new"
                size="sm"
                variant={first === undefined ? "filled" : "default"}
              >
                New workflow
              </Button>
            )}
            <Button component={Link} to="/workflows" size="sm" variant="default">
              Look at all
            </Button>
          </Group>
        </Way>
      </SimpleGrid>
    </Stack>
  );
}

interface WayProps {
  Icon: ComponentType<{ size?: number; "aria-hidden"?: boolean }>;
  title: string;
  children: ReactNode;
}

function Way({ Icon, title, children }: WayProps) {
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
