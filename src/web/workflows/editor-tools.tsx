/**
 * The tools beside the editor, of which one is shown: the graph of the steps, the databases, or the test of the draft. On a
 * small screen buttons above the editor open the others in a drawer.
 */
import { Box, Button, Drawer, Group, SegmentedControl } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconDatabase, IconPlayerPlay } from "@tabler/icons-react";
import { type ComponentType, lazy, type RefObject, Suspense, useState } from "react";
import * as texts from "#texts/workflows";
import { projectOf } from "../../../schemas/project-ids.ts";
import type { DatabaseInsertions } from "../data/database-browser.tsx";
import { selectOf, sqlIdentifier, sqlName } from "../data/sql-names.ts";
import type { EditorHandle } from "../editor/definition-editor.tsx";
import type * as Insertions from "../editor/insertions.ts";
import type { Format } from "../editor/format.ts";
import type { TestChoice } from "../trials/test-panel.tsx";
import type { DraftTests } from "../trials/use-draft-tests.ts";
import { useProjects } from "../projects/use-projects.tsx";
import { notifyError } from "../ui/notify.ts";
import { LoadingSkeleton } from "../ui/page.tsx";

const DatabaseBrowser = lazy(() => import("../data/database-browser.tsx"));

const TestPanel = lazy(() => import("../trials/test-panel.tsx"));

export type EditorTool = "steps" | "data" | "test";

const TOOLS: {
  value: Exclude<EditorTool, "steps">;
  label: string;
  title: string;
  icon: ComponentType<{ size: number }>;
}[] = [
  { value: "data", label: texts.dataTool, title: texts.dataToolTitle, icon: IconDatabase },
  { value: "test", label: texts.testTool, title: texts.testTool, icon: IconPlayerPlay },
];

/** The width from which tools are beside the editor: the breakpoint `lg` of its grid. */
const BESIDE = "(min-width: 75em)";

/** The graph follows the page by itself. */
const BESIDE_STYLE = {
  position: "sticky",
  top: 72,
  maxHeight: "calc(100vh - 88px)",
  overflowY: "auto",
} as const;

interface ToolChoice {
  tool: EditorTool;
  onTool: (tool: EditorTool) => void;
}

/** The buttons of a small screen. */
export function EditorToolButtons({ tool, onTool }: ToolChoice) {
  return (
    <Group gap="xs" hiddenFrom="lg">
      {TOOLS.map(({ value, label, icon: Icon }) => (
        <Button
          key={value}
          size="compact-sm"
          variant="default"
          aria-haspopup="dialog"
          aria-expanded={tool === value}
          leftSection={<Icon size={14} aria-hidden />}
          onClick={() => onTool(value)}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

interface EditorToolsProps extends ToolChoice {
  editor: RefObject<EditorHandle | null>;
  format: Format;
  project: string | undefined;
  tests: DraftTests;
  /** Null for an empty draft. */
  definition: Record<string, unknown> | null;
  /** Whether the text has syntax errors, so that `definition` is older than it. */
  isInvalid: boolean;
  /** The steps, as validation reported them. */
  steps: readonly { id: string; effects: boolean }[] | undefined;
}

/** The switch above the shown tool, and the tool unless it is the graph. */
export function EditorTools({ tool, onTool, editor, format, project, ...draft }: EditorToolsProps) {
  const [choice, setChoice] = useState<TestChoice>({ stepId: "" });
  const isBeside = useMediaQuery(BESIDE, true);
  const { several } = useProjects();
  const close = (): void => onTool("steps");
  const insertions = insertInto(editor, format, isBeside ? () => undefined : close);
  const shown = TOOLS.find(({ value }) => value === tool);
  const content = shown !== undefined && (
    <Suspense fallback={<LoadingSkeleton rows={4} />}>
      {tool === "data" ? (
        <DatabaseBrowser project={several ? projectOf({ project }) : undefined} {...insertions} />
      ) : (
        <TestPanel
          tests={draft.tests}
          choice={choice}
          onChoice={setChoice}
          definition={draft.definition}
          isInvalid={draft.isInvalid}
          withEffects={(draft.steps ?? []).filter(({ effects }) => effects).map(({ id }) => id)}
        />
      )}
    </Suspense>
  );
  if (!isBeside)
    return (
      <Drawer
        opened={shown !== undefined}
        onClose={close}
        title={shown?.title}
        position="right"
        size="md"
        closeButtonProps={{ "aria-label": texts.close }}
      >
        {content}
      </Drawer>
    );
  return (
    <Box p={2} style={shown !== undefined ? BESIDE_STYLE : undefined}>
      <SegmentedControl
        fullWidth
        size="xs"
        mb="sm"
        aria-label={texts.besideEditor}
        value={tool}
        onChange={onTool}
        data={[
          { value: "steps", label: texts.steps },
          ...TOOLS.map(({ value, label }) => ({ value, label })),
        ]}
      />
      {shown !== undefined && (
        <Box component="section" aria-label={shown.title}>
          {content}
        </Box>
      )}
    </Box>
  );
}

/** @param onInserted called after each insertion */
function insertInto(
  editor: RefObject<EditorHandle | null>,
  format: Format,
  onInserted: () => void,
): DatabaseInsertions {
  const insert = async (
    change: (
      tools: typeof Insertions,
      at: ReturnType<EditorHandle["read"]>,
    ) => { text: string; cursor: number } | undefined,
  ): Promise<void> => {
    try {
      const tools = await import("../editor/insertions.ts");
      const handle = editor.current;
      if (handle === null) return;
      const changed = change(tools, handle.read());
      if (changed === undefined) {
        notifications.show({ id: "no-query", color: "yellow", message: texts.placeCursorInQuery });
        return;
      }
      handle.edit(changed);
      onInserted();
    } catch (error) {
      notifyError(texts.nothingInserted, error);
    }
  };
  return {
    insertName: ({ kind, name }, type) =>
      void insert(({ insertName }, { text, cursor }) => {
        const written = kind === "table" ? sqlName(name, type) : sqlIdentifier(name, type);
        return insertName(text, cursor, format, { kind, name: written });
      }),
    insertStep: (table, database, type) =>
      void insert(({ insertSqlStep }, { text, cursor }) =>
        insertSqlStep(text, cursor, format, { table: table.name, database, query: selectOf(table, type) }),
      ).then(() => editor.current?.focus()),
  };
}
