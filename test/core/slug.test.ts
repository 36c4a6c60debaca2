import { describe, expect, it } from "vitest";
import { slugOf } from "../../src/core/slug.ts";

/** Slugs of releases before other scripts were transliterated. They must stay, because people expect the same id of the same name. */
const BEFORE = [
  ["Weekly revenue", "weekly-revenue"],
  ["weeklyRevenue", "weekly-revenue"],
  ["My MySQL report", "my-mysql-report"],
  ["Größe & Maß", "groesse-and-mass"],
  ["Crème brûlée", "creme-brulee"],
  ["Łódź", "lodz"],
  ["Việt Nam", "viet-nam"],
  ["İstanbul", "istanbul"],
  ["it's", "its"],
  ["C++ report", "c-report"],
  ["€ 5", "e-5"],
  ["🚀 Launch", "launch"],
  ["Апрель", "aprel"],
  ["Еженедельный отчёт", "ezhenedelniy-otchyot"],
  ["Київ", "kiyiv"],
  ["Εβδομαδιαία αναφορά", "evdomadiaia-anafora"],
  ["تقرير أسبوعي", "tqryr-asbwey"],
  ["گزارش هفتگی", "gzarsh-hftgy"],
  ["Հայերեն", "hayyeryen"],
  ["ქართული", "qartuli"],
  ["ދިވެހި", "dhivehi"],
  // Marks that several scripts share, after letters that have no composed form with them.
  ["ну\u0301жный отчёт", "nuzhniy-otchyot"],
  ["ẹ\u0300kọ\u0301", "eko"],
  ["م\u064Fح\u064Eم\u0651\u064Eد", "muhmd"],
  ["x\u0302y", "xy"],
  ["--", ""],
] as const;

/** Expected values: the table of any-ascii (https://anyascii.com), with Hanyu Pinyin, Revised Romanization, RTGS and so on. */
const TRANSLITERATED = [
  ["每周收入", "mei-zhou-shou-ru"],
  ["2024年报告", "2024-nian-bao-gao"],
  ["周报v2", "zhou-bao-v2"],
  // https://github.com/talha-asad/mongoose-url-slugs/issues/31, https://github.com/sindresorhus/slugify/issues/8
  ["今天天气真好", "jin-tian-tian-qi-zhen-hao"],
  ["你好", "ni-hao"],
  // https://github.com/esamattis/underscore.string/issues/349
  ["あいうえお", "aiueo"],
  ["가나다", "ga-na-da"],
  ["Type 周报", "type-zhou-bao"],
  ["データ 2", "deta-2"],
  ["한국어", "han-gug-eo"],
  ["รายงานประจำสัปดาห์", "raynganprachamsapdah"],
  ["דוח שבועי", "dvh-svvy"],
  ["साप्ताहिक आय", "saptahik-ay"],
  ["বাংলা", "bamla"],
  ["தமிழ்", "tmil"],
  ["शिव\u0951 पूजा", "siv-puja"],
  ["🚀", "rocket"],
  ["📧", "e-mail"],
  ["👩\u200D💻", "woman-computer"],
] as const;

describe("slugOf", () => {
  it.each(BEFORE)("keeps the slug of %j: %s", (name, slug) => {
    expect(slugOf(name, 60)).toBe(slug);
  });

  it.each(TRANSLITERATED)("transliterates %j to %s", (name, slug) => {
    expect(slugOf(name, 60)).toBe(slug);
  });

  it.each([...BEFORE, ...TRANSLITERATED])("makes the same slug of the decomposed %j", (name, slug) => {
    expect(slugOf(name.normalize("NFD"), 60)).toBe(slug);
  });

  it("ends with a whole character at the limit, and never with a hyphen", () => {
    expect(slugOf("每周收入".repeat(50), 60)).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(slugOf("每周收入", 4)).toBe("mei");
  });
});
