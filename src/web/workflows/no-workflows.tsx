/** Before the first workflow: the three ways to make one. */
import { Anchor, Button, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Snippet } from "../ui/copy.tsx";

const PROMPT = `Make a workflow in Millrace that asks the sample shop for
the revenue by region of one week, check it, run it,
and publish it when the numbers look right.`;

const curl = (origin: string): string => `curl ${origin}/workflows \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" \\
  -d '{"name": "Hello", "definition": {"steps": [
    {"id": "hello", "type": "set", "values": {"text": "Good morning"}}]}}'`;

export function NoWorkflows({ mayWrite }: { mayWrite: boolean }) {
  return (
    <Stack gap="lg">
      <Text maw={640}>
        There is no workflow yet. A workflow is a list of steps (queries, models, requests, decisions of
        people) that is checked as a whole before it runs, and runs the same way each time.
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <Way title="Ask an agent">
          <Snippet text={PROMPT} label="prompt for an agent" />
          <Text size="sm" c="dimmed">
            <Anchor component={Link} to="/connect" underline="always">
              Connect an agent
            </Anchor>{" "}
            first; it takes a minute.
          </Text>
        </Way>
        <Way title="Send it">
          <Snippet text={curl(location.origin)} label="curl command" />
          <Text size="sm" c="dimmed">
            <Anchor component={Link} to="/keys" underline="always">
              Make an API key
            </Anchor>{" "}
            with the scope write.
          </Text>
        </Way>
        <Way title="Write it here">
          <Text size="sm">
            Begin with a template, or from scratch. The editor completes, and marks faults as you type.
          </Text>
          {mayWrite ? (
            <Button component={Link} to="/workflows/new">
              New workflow
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              Your role may look at workflows, but not make them. An admin can change that.
            </Text>
          )}
        </Way>
      </SimpleGrid>
    </Stack>
  );
}

function Way({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" miw={0}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
