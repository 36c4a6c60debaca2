/** The setups of all clients, one at a time. */
import { Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Snippet } from "../ui/copy.tsx";
import { clientSetups } from "./clients.ts";

export function ClientSetups({ url, value }: { url: string; value: string }) {
  const setups = clientSetups(url, value);
  const [chosen, setChosen] = useState(setups[0]!.id);
  const setup = setups.find(({ id }) => id === chosen)!;
  return (
    <Stack gap="xs">
      <Select
        label="Your client"
        data={setups.map(({ id, name }) => ({ value: id, label: name }))}
        value={chosen}
        onChange={(id) => id !== null && setChosen(id)}
        allowDeselect={false}
        maw={320}
      />
      <Text size="sm">{setup.instructions}</Text>
      <Snippet text={setup.text} label={`configuration for ${setup.name}`} />
    </Stack>
  );
}
