/** The interfaces of the store for what people mark for themselves. The rules for transactions in run-ports.ts hold. */
import type { SavedView, ViewPage } from "../../schemas/bookmarks.ts";

export interface BookmarkReader {
  /** Ids of the favourite workflows of a person, oldest favourite first. */
  favorites(owner: string): Promise<string[]>;
  /** The saved views of a person, sorted by page and name. */
  views(owner: string): Promise<SavedView[]>;
}

export interface BookmarkWriter extends BookmarkReader {
  /**
   * Locks the additions of a person until the transaction ends, so that what is counted then includes those of other
   * transactions. Concurrent callers wait.
   */
  lock(owner: string): Promise<void>;
  /** Does nothing for one that is a favourite already. @param at ISO 8601 */
  addFavorite(owner: string, workflowId: string, at: string): Promise<void>;
  removeFavorite(owner: string, workflowId: string): Promise<void>;
  /** Replaces the view of the same page and name. @param at ISO 8601 */
  saveView(owner: string, view: SavedView, at: string): Promise<void>;
  removeView(owner: string, view: { page: ViewPage; name: string }): Promise<void>;
}
