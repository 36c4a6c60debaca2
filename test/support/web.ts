/** The web interface of the real program in a real browser: people in windows of their own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, expect as see, type Page } from "playwright-core";
