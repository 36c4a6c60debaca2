/** The empty workflow list: three ways to create a workflow. */
import { Button, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import * as texts from "#texts/workflows";
import { Snippet } from "../ui/copy.tsx";
import { linkTo } from "../ui/message-tags.tsx";

const curl = (origin: string): string => `curl ${origin}/workflows \\
  -H "X-API-Key: <key>" -H "Content-Type: application/json" \\
  -d '{"name": "Hello", "definition": {"steps": [
    {"id": "hello", "type": "set", "values": {"text": "Good morning"}}]}}'`;

export function NoWorkflows({ mayWrite }: { mayWrite: boolean }) {
  return (
    <Stack gap="lg">
      <Text maw={640}>{texts.noWorkflowsHelp}</Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <Option title={texts.askAgent}>
          <Snippet text={texts.agentPrompt} label={texts.agentPromptLabel} />
          <Text size="sm" c="dimmed">
            {texts.connectAgentFirst({
              link: linkTo("/connect", { underline: "always" }),
            })}
          </Text>
        </Option>
        <Option title={texts.apiOption}>
          <Snippet text={curl(location.origin)} label={texts.curlCommand} />
          <Text size="sm" c="dimmed">
            {texts.createKeyFirst({
              link: linkTo("/keys", { underline: "always" }),
            })}
          </Text>
        </Option>
        <Option title={texts.editorOption}>
          <Text size="sm">{texts.editorOptionHelp}</Text>
          {mayWrite ? (
            <Button component={Link} to="/workflows/new">
              {texts.newWorkflow}
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              {texts.mayNotCreate}
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
