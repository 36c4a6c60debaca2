/** The theme of the component library. The colours of statuses are in ui/status-badge.tsx. */
import { Button, createTheme } from "@mantine/core";
import { RequestButton, SENDS_REQUEST } from "../ui/request-button.tsx";
import { filterOptions, isDuplicate } from "../ui/filter-options.ts";

export const theme = createTheme({
  primaryColor: "mill",
  // Mantine's cyan, except for the last two: white text on them has a contrast above 4.5:1, on hover too (WCAG 1.4.3).
  colors: {
    mill: [
      "#e3fafc",
      "#c5f6fa",
      "#99e9f2",
      "#66d9e8",
      "#3bc9db",
      "#22b8cf",
      "#15aabf",
      "#1098ad",
      "#0b7285",
      "#095c6b",
    ],
  },
  primaryShade: 8,
  autoContrast: true,
  // Above this luminance text on a filled colour is black: white would have a contrast below 4.5:1.
  luminanceThreshold: 0.18,
  defaultRadius: "md",
  cursorType: "pointer",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "650" },
  respectReducedMotion: true,
  components: {
    // No shade of a colour reaches a contrast of 4.5:1 on its own tint in both colour schemes.
    Alert: { styles: { title: { color: "var(--mantine-color-text)" } } },
    Button: Button.extend({
      defaultProps: { component: RequestButton },
      classNames: (_theme, { loading }) => (loading === undefined ? {} : { root: SENDS_REQUEST }),
    }),
    Autocomplete: { defaultProps: { filter: filterOptions } },
    MultiSelect: { defaultProps: { filter: filterOptions } },
    Select: { defaultProps: { filter: filterOptions } },
    TagsInput: { defaultProps: { filter: filterOptions, isDuplicate } },
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    // Mantine renders a <header>, which screen readers report as a second banner of the page.
    ModalHeader: { defaultProps: { component: "div" } },
  },
});
