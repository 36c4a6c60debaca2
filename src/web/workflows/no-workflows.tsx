/** The empty workflow list: three ways to create a workflow. */
import { Anchor, Button, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { serverUrl } from "../app/base-path.ts";
import { Snippet } from "../ui/copy.tsx";

const PROMPT = `Create a workflow in Millrace that queries the sample shop
for one week's revenue by region, validate it, run it,
and publish it if the numbers look right.`;

const curl = (origin: string): string => `curl ${origin}/workflows \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" \\
  -d '{"name": "Hello", "definition": {"steps": [
    {"id": "hello", "type": "set", "values": {"text": "Good morning"}}]}}'`;

export function NoWorkflows({ mayWrite }: { mayWrite: boolean }) {
  return (
    <Stack gap="lg">
      <Text maw={640}>
        No workflows yet. A workflow is a list of steps (queries, model calls, HTTP requests, approvals) that
        is validated before it runs and runs the same way every time.
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <Option title="Ask an agent">
          <Snippet text={PROMPT} label="prompt for an agent" />
          <Text size="sm" c="dimmed">
            <Anchor component={Link} to="/connect" underline="always">
              Connect an agent
            </Anchor>{" "}
            first; it takes a minute.
          </Text>
        </Option>
        <Option title="Use the API">
          <Snippet text={curl(serverUrl())} label="curl command" />
          <Text size="sm" c="dimmed">
            <Anchor component={Link} to="/keys" underline="always">
              Create an API key
            </Anchor>{" "}
            with the write scope.
          </Text>
        </Option>
        <Option title="Use the editor">
          <Text size="sm">
            Start from a template or from scratch. The editor completes and validates as you type.
          </Text>
          {mayWrite ? (
            <Button component={Link} to="/workflows/new">
              New workflow
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              Your role can’t create workflows. An admin can change it.
            </Text>
          )}
        </Option>
      </SimpleGrid>
    </Stack>
  );
}

function Option({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" miw={0}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
