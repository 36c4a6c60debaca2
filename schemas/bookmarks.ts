/** What a person marks for themselves: favourite workflows, and saved filters of lists. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { text, visible } from "./text.ts";
import { WorkflowStatus } from "./workflow.ts";

/** Maximum number of favourites of a person. */
export const MAX_FAVORITES = 100;
/** Maximum number of saved views of a person, over all pages. */
export const MAX_SAVED_VIEWS = 100;

export const ViewPage = z.enum(["workflows", "runs", "approvals", "audit"]).meta({
  description: "The list that the view filters.",
  example: "runs",
});
export type ViewPage = z.infer<typeof ViewPage>;

export const ViewName = visible("line", 60, 1).meta({ example: "Failed this week" });

export const SavedView = z
  .strictObject({
    page: ViewPage,
    name: ViewName,
    query: text(1_000).meta({
      description: "The filters, as the query of the page's address has them.",
      example: "status=failed",
    }),
  })
  .meta({ id: "SavedView", description: "Filters of a list under a name." });
export type SavedView = z.infer<typeof SavedView>;

const Favorite = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
    project: ProjectField,
    status: WorkflowStatus,
  })
  .meta({ id: "Favorite", description: "A favourite workflow." });

export const Bookmarks = z
  .strictObject({
    favorites: z
      .array(Favorite)
      .meta({ description: `Sorted by name; at most ${MAX_FAVORITES}, without those that you can't see.` }),
    views: z.array(SavedView).meta({ description: `Sorted by page and name; at most ${MAX_SAVED_VIEWS}.` }),
  })
  .meta({ id: "Bookmarks", description: "The favourites and saved views of a person." });
export type Bookmarks = z.infer<typeof Bookmarks>;
