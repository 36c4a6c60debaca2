/** The configuration snippet of one MCP client, with a select to change the client, and its link if it has one. */
import { Button, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { serverPath } from "../app/base-path.ts";
import { Snippet } from "../ui/copy.tsx";
import { clientSetups } from "./clients.ts";

export function ClientSetups({ url, value }: { url: string; value: string }) {
  const setups = clientSetups(url, value);
  const [selectedId, setSelectedId] = useState(setups[0]!.id);
  const setup = setups.find(({ id }) => id === selectedId)!;
  return (
    <Stack gap="xs">
      <Select
        label="Client"
        data={setups.map(({ id, name }) => ({ value: id, label: name }))}
        value={selectedId}
        onChange={(id) => id !== null && setSelectedId(id)}
        allowDeselect={false}
        maw={320}
      />
      <Text size="sm">{setup.instructions}</Text>
      {setup.link !== undefined && (
        <Button
          component="a"
          href={setup.link.download === true ? serverPath(setup.link.href) : setup.link.href}
          download={setup.link.download}
          variant="light"
          style={{ alignSelf: "flex-start" }}
        >
          {setup.link.label}
        </Button>
      )}
      <Snippet text={setup.text} label={`configuration for ${setup.name}`} />
    </Stack>
  );
}
