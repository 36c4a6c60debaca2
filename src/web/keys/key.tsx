/** The page of an API key: what it can do and reach, in words. */
import { Anchor, Card, List, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import * as texts from "#texts/keys";
import { Page, QueryContent } from "../ui/page.tsx";
import { apiKeyQuery } from "./queries.ts";

export default function Key() {
  const { keyId = "" } = useParams();
  const key = useQuery(apiKeyQuery(keyId));
  return (
    <Page
      title={key.data === undefined ? texts.keyTitle : texts.keyTitleOf({ name: key.data.name })}
      about={
        <>
          {key.data !== undefined && (
            <>
              <code>…{key.data.last_four}</code> ·{" "}
            </>
          )}
          <Anchor component={Link} to="/keys" size="sm">
            {texts.allKeys}
          </Anchor>
        </>
      }
    >
      <QueryContent query={key}>
        {({ description }) => (
          <Stack maw={760}>
            {description.map(({ title, sentences }) => (
              <Card key={title} withBorder padding="md" component="section" aria-label={title}>
                <Title order={2} size="h4" mb="xs">
                  {title}
                </Title>
                <List spacing={6} size="sm">
                  {sentences.map((sentence) => (
                    <List.Item key={sentence}>
                      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                        {sentence}
                      </Text>
                    </List.Item>
                  ))}
                </List>
              </Card>
            ))}
          </Stack>
        )}
      </QueryContent>
    </Page>
  );
}
