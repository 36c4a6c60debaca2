/** The actions on a workflow that the user may perform. */
import { ActionIcon, Button, Menu } from "@mantine/core";
import {
  IconArchive,
  IconArrowBackUp,
  IconBroadcast,
  IconBroadcastOff,
  IconDotsVertical,
  IconEdit,
  IconFolderSymlink,
  IconHistory,
  IconPencil,
  IconPlayerPlay,
  IconShare,
} from "@tabler/icons-react";
import { Link } from "react-router";
import { projectOf } from "../../../schemas/project-ids.ts";
import { useHasScopeIn, useMoveTargets, useProjects } from "../projects/use-projects.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import type { WorkflowWithEtag } from "./queries.ts";
import { useWorkflowMutations } from "./use-workflow-mutations.tsx";

interface WorkflowActionsProps {
  read: WorkflowWithEtag;
  onPublish: () => void;
  onDetails: () => void;
  onOffer: () => void;
  onMove: () => void;
}

export function WorkflowActions({ read, onPublish, onDetails, onOffer, onMove }: WorkflowActionsProps) {
  const may = useHasScopeIn(read.workflow);
  const { several } = useProjects();
  const moveTargets = useMoveTargets(projectOf(read.workflow));
  const { archive, restore, unpublish } = useWorkflowMutations();
  const { id, name, status, version, published_version: published, definition } = read.workflow;
  const path = `/workflows/${id}`;
  if (status === "archived") {
    return (
      <>
        {may("write") && (
          <Button
            leftSection={<IconArrowBackUp size={16} aria-hidden />}
            loading={restore.isPending}
            onClick={() => restore.mutate(read)}
          >
            Restore
          </Button>
        )}
        <Button component={Link} to={`${path}/versions`} variant="default">
          Versions
        </Button>
      </>
    );
  }
  const confirmUnpublish = () =>
    confirmAction({
      title: `Unpublish “${name}”?`,
      consequence: "The workflow becomes a draft and its schedule stops. Active runs continue.",
      confirm: "Unpublish",
      onConfirm: () => unpublish.mutate(read),
    });
  return (
    <>
      {may("run") && definition !== null && (
        <Button component={Link} to={`${path}/run`} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
          Run
        </Button>
      )}
      {may("write") && (
        <Button
          component={Link}
          to={`${path}/edit`}
          variant="default"
          leftSection={<IconEdit size={16} aria-hidden />}
        >
          Edit
        </Button>
      )}
      {!may("write") && (
        <Button
          component={Link}
          to={`${path}/versions`}
          variant="default"
          leftSection={<IconHistory size={16} aria-hidden />}
        >
          Versions
        </Button>
      )}
      {may("publish") && definition !== null && published !== version && (
        <Button variant="default" leftSection={<IconBroadcast size={16} aria-hidden />} onClick={onPublish}>
          Publish
        </Button>
      )}
      {may("write") && (
        <Menu position="bottom-end" width={240}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={`More actions for ${name}`}>
              <IconDotsVertical size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={onDetails}>
              Edit details
            </Menu.Item>
            <Menu.Item
              component={Link}
              to={`${path}/versions`}
              leftSection={<IconHistory size={16} aria-hidden />}
            >
              Versions
            </Menu.Item>
            {status === "published" && may("publish") && (
              <Menu.Item leftSection={<IconBroadcastOff size={16} aria-hidden />} onClick={confirmUnpublish}>
                Unpublish
              </Menu.Item>
            )}
            {several && may("admin") && (
              <Menu.Item leftSection={<IconShare size={16} aria-hidden />} onClick={onOffer}>
                Offer to projects…
              </Menu.Item>
            )}
            {moveTargets.length > 0 && (
              <Menu.Item leftSection={<IconFolderSymlink size={16} aria-hidden />} onClick={onMove}>
                Move to another project…
              </Menu.Item>
            )}
            <Menu.Divider />
            <Menu.Item
              color="red"
              leftSection={<IconArchive size={16} aria-hidden />}
              onClick={() => archive.mutate(read)}
            >
              Archive
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}
