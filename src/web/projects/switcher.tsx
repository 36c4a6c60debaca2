/** Chooses the project whose workflows, runs and approvals are shown. Only for users with several projects. */
import { Button, Menu, ScrollArea, Text } from "@mantine/core";
import { IconCheck, IconFolder, IconSelector } from "@tabler/icons-react";
import { useProjects } from "./use-projects.tsx";

const ALL_LABEL = "All projects";

export function ProjectSwitcher() {
  const { projects, several, chosen, choose } = useProjects();
  if (!several) return null;
  const name = chosen === undefined ? ALL_LABEL : (projects.find(({ id }) => id === chosen)?.name ?? chosen);
  const options = [{ id: undefined, name: ALL_LABEL }, ...projects];
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          maw={220}
          miw={0}
          leftSection={<IconFolder size={14} aria-hidden />}
          rightSection={<IconSelector size={14} aria-hidden />}
          aria-label={`Project: ${name}`}
        >
          <Text truncate size="sm" inherit>
            {name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah="60vh">
          {options.map((option) => (
            <Menu.Item
              key={option.id ?? ""}
              aria-current={option.id === chosen ? "true" : undefined}
              rightSection={option.id === chosen && <IconCheck size={16} aria-hidden />}
              onClick={() => choose(option.id)}
            >
              {option.name}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  );
}
