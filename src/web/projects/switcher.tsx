/** Chooses the project whose workflows, runs and approvals are shown. Only for users with several projects. */
import { Box, Button, Menu, ScrollArea, Text } from "@mantine/core";
import { IconCheck, IconFolder, IconSelector } from "@tabler/icons-react";
import * as texts from "#texts/app";
import { useProjects } from "./use-projects.tsx";

export function ProjectSwitcher() {
  const { projects, several, chosen, choose } = useProjects();
  if (!several) return null;
  const name =
    chosen === undefined ? texts.allProjects : (projects.find(({ id }) => id === chosen)?.name ?? chosen);
  const options = [{ id: undefined, name: texts.allProjects }, ...projects];
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          maw={220}
          miw={30}
          px={{ base: 7, xs: "sm" }}
          aria-label={texts.chosenProject({ name })}
        >
          <IconFolder size={14} style={{ flexShrink: 0 }} aria-hidden />
          {/* A phone has no room for more than the icon beside the user's address. */}
          <Text visibleFrom="xs" mx={8} truncate size="sm" inherit>
            {name}
          </Text>
          <Box visibleFrom="xs" display="inline-flex" style={{ flexShrink: 0 }}>
            <IconSelector size={14} aria-hidden />
          </Box>
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
