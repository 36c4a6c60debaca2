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
import * as texts from "#texts/workflows";
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
            {texts.restore}
          </Button>
        )}
        <Button component={Link} to={`${path}/versions`} variant="default">
          {texts.versions}
        </Button>
      </>
    );
  }
  const confirmUnpublish = () =>
    confirmAction({
      title: texts.unpublishTitle({ name }),
      consequence: texts.unpublishHelp,
      confirm: texts.unpublish,
      onConfirm: () => unpublish.mutate(read),
    });
  return (
    <>
      {may("run") && definition !== null && (
        <Button component={Link} to={`${path}/run`} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
          {texts.runButton}
        </Button>
      )}
      {may("write") && (
        <Button
          component={Link}
          to={`${path}/edit`}
          variant="default"
          leftSection={<IconEdit size={16} aria-hidden />}
        >
          {texts.edit}
        </Button>
      )}
      {!may("write") && (
        <Button
          component={Link}
          to={`${path}/versions`}
          variant="default"
          leftSection={<IconHistory size={16} aria-hidden />}
        >
          {texts.versions}
        </Button>
      )}
      {may("publish") && definition !== null && published !== version && (
        <Button variant="default" leftSection={<IconBroadcast size={16} aria-hidden />} onClick={onPublish}>
          {texts.publish}
        </Button>
      )}
      {may("write") && (
        <Menu position="bottom-end" width={280}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={texts.moreActions({ name })}>
              <IconDotsVertical size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={onDetails}>
              {texts.editDetails}
            </Menu.Item>
            <Menu.Item
              component={Link}
              to={`${path}/versions`}
              leftSection={<IconHistory size={16} aria-hidden />}
            >
              {texts.versions}
            </Menu.Item>
            {status === "published" && may("publish") && (
              <Menu.Item leftSection={<IconBroadcastOff size={16} aria-hidden />} onClick={confirmUnpublish}>
                {texts.unpublish}
              </Menu.Item>
            )}
            {several && may("publish") && (
              <Menu.Item leftSection={<IconShare size={16} aria-hidden />} onClick={onOffer}>
                {texts.offerToProjects}
              </Menu.Item>
            )}
            {moveTargets.length > 0 && (
              <Menu.Item leftSection={<IconFolderSymlink size={16} aria-hidden />} onClick={onMove}>
                {texts.moveToProject}
              </Menu.Item>
            )}
            <Menu.Divider />
            <Menu.Item
              color="red"
              leftSection={<IconArchive size={16} aria-hidden />}
              onClick={() => archive.mutate(read)}
            >
              {texts.archiveButton}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}
