/** The editor's colours. Text has a contrast of at least 4.5:1 on every background (WCAG 1.4.3). */
export interface Palette {
  text: string;
  page: string;
  line: string;
  selection: string;
  key: string;
  string: string;
  keyword: string;
  muted: string;
  expression: string;
  error: string;
  warning: string;
  inserted: string;
  insertedText: string;
  deleted: string;
  deletedText: string;
}

export const LIGHT: Palette = {
  text: "#1a1b1e",
  page: "#ffffff",
  line: "#f3f6f8",
  selection: "#d3e7f5",
  key: "#0a5273",
  string: "#2a5c1f",
  keyword: "#7a2a94",
  muted: "#545b63",
  expression: "#8a3c00",
  error: "#c92a2a",
  warning: "#8f5500",
  inserted: "#e6f6e8",
  insertedText: "#c3e8c8",
  deleted: "#fdecea",
  deletedText: "#f8cfca",
};

export const DARK: Palette = {
  text: "#dee0e3",
  page: "#242424",
  line: "#2c2e31",
  selection: "#254254",
  key: "#7cc9e8",
  string: "#a3d993",
  keyword: "#dca8ef",
  muted: "#a9aeb5",
  expression: "#ffb87a",
  error: "#ff8787",
  warning: "#ffc46b",
  inserted: "#1f3427",
  insertedText: "#28492f",
  deleted: "#41272a",
  deletedText: "#5c3236",
};
