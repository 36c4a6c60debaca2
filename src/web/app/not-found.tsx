import { useLocation } from "react-router";
import * as texts from "#texts/app";
import { Page } from "../ui/page.tsx";
import { NotFoundHelp } from "./not-found-help.tsx";
import { searchWordsOf } from "./near-matches.ts";

export function NotFound() {
  const { pathname } = useLocation();
  return (
    <Page title={texts.notFound}>
      <NotFoundHelp title={texts.pageMissing} lookedFor={pathname} words={searchWordsOf(pathname)} />
    </Page>
  );
}
