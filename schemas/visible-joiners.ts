/**
 * Where the joiners of zero width (U+200C, U+200D) change how a text looks: in Persian and other joined scripts, after the virama of
 * Indian scripts, and in emoji of several. Elsewhere nobody sees them. The rules are those of RFC 5892, appendix A (ContextJ, which UTS #46
 * uses too), and of the Unicode Standard where it names a further sequence; the classes are those of Unicode 14, with the
 * viramas of Unicode 15 and 16.
 */

/** Canonical_Combining_Class=Virama. */
const VIRAMA = [
  String.raw`\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u0E3A\u0EBA\u0F84\u1039`,
  String.raw`\u103A\u1714\u1715\u1734\u17D2\u1A60\u1B44\u1BAA\u1BAB\u1BF2\u1BF3\u2D7F\uA806\uA82C\uA8C4\uA953`,
  String.raw`\uA9C0\uAAF6\uABED\u{10A3F}\u{11046}\u{11070}\u{1107F}\u{110B9}\u{11133}\u{11134}\u{111C0}\u{11235}`,
  String.raw`\u{112EA}\u{1134D}\u{11442}\u{114C2}\u{115BF}\u{1163F}\u{116B6}\u{1172B}\u{11839}\u{1193D}\u{1193E}`,
  String.raw`\u{119E0}\u{11A34}\u{11A47}\u{11A99}\u{11C3F}\u{11D44}\u{11D45}\u{11D97}\u{113CE}-\u{113D0}\u{11F41}`,
  String.raw`\u{11F42}\u{1612F}`,
].join("");

/** Joining_Type=Dual_Joining, of scripts in use. */
const DUAL_JOINING = [
  String.raw`\u0620\u0626\u0628\u062A-\u062E\u0633-\u063F\u0641-\u0647\u0649\u064A\u066E\u066F\u0678-\u0687`,
  String.raw`\u069A-\u06BF\u06C1\u06C2\u06CC\u06CE\u06D0\u06D1\u06FA-\u06FC\u06FF\u0712-\u0714\u071A-\u071D`,
  String.raw`\u071F-\u0727\u0729\u072B\u072D\u072E\u074E-\u0758\u075C-\u076A\u076D-\u0770\u0772\u0775-\u0777`,
  String.raw`\u077A-\u077F\u07CA-\u07EA\u0841-\u0845\u0848\u084A-\u0853\u0855\u0860\u0862-\u0865\u0868\u0886`,
  String.raw`\u0889-\u088D\u08A0-\u08A9\u08AF\u08B0\u08B3-\u08B8\u08BA-\u08C8\u1807\u1820-\u1878\u1887-\u18A8`,
  String.raw`\u18AA\uA840-\uA871\u{10D01}-\u{10D21}\u{10D23}\u{1E900}-\u{1E943}`,
].join("");

/** Joining_Type=Right_Joining, of scripts in use. */
const RIGHT_JOINING = [
  String.raw`\u0622-\u0625\u0627\u0629\u062F-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06C0`,
  String.raw`\u06C3-\u06CB\u06CD\u06CF\u06D2\u06D3\u06D5\u06EE\u06EF\u0710\u0715-\u0719\u071E\u0728\u072A\u072C`,
  String.raw`\u072F\u074D\u0759-\u075B\u076B\u076C\u0771\u0773\u0774\u0778\u0779\u0840\u0846\u0847\u0849\u0854`,
  String.raw`\u0856-\u0858\u0867\u0869\u086A\u0870-\u0882\u088E\u08AA-\u08AC\u08AE\u08B1\u08B2\u08B9\u{10D22}`,
].join("");

/** Joining_Type=Left_Joining, of scripts in use. */
const LEFT_JOINING = String.raw`\uA872\u{10D00}`;
/** Joining_Type=Transparent, without format characters. */
const MARKS = String.raw`[\p{Mn}\p{Me}]*`;
const EMOJI = String.raw`[\p{Extended_Pictographic}&&\p{Emoji}]`;
const EMOJI_ELEMENT = String.raw`${EMOJI}[\uFE0F\p{Emoji_Modifier}]?`;

/** Joiners and variation selectors where they have an effect, as the source of a regular expression with the flag v. */
export const VISIBLE_JOINER = [
  String.raw`(?<=[${VIRAMA}])[\u200C\u200D]`,
  String.raw`(?<=[${LEFT_JOINING}${DUAL_JOINING}]${MARKS})\u200C(?=${MARKS}[${RIGHT_JOINING}${DUAL_JOINING}])`,
  // Ra with ya-phalaa (Bengali, 12.2), ra without repha (Kannada, 12.8) and touching letters (Sinhala, 13.2).
  String.raw`(?<=[\u09B0\u0CB0\u0D9A-\u0DC6])\u200D(?=[\u09CD\u0CCD\u0DCA])`,
  // UTS #51, ED-8a and ED-9a. Digits have an emoji form only as keycaps.
  String.raw`(?<=${EMOJI})[\uFE0E\uFE0F]|(?<=[0-9#*])\uFE0F(?=\u20E3)`,
].join("|");

/** Emoji with joiners between them, as the source of a regular expression with the flag v. */
export const JOINED_EMOJI = String.raw`${EMOJI_ELEMENT}(?:\u200D${EMOJI_ELEMENT})+`;

const RECOMMENDED = /^\p{RGI_Emoji_ZWJ_Sequence}$/v;
/** Emoji that are shown as text without a selector or a skin tone. */
const TEXT_FORM = new RegExp(String.raw`[${EMOJI}--\p{Emoji_Presentation}](?!\p{Emoji_Modifier})`, "gv");

/** Whether joined emoji are shown as one (UTS #51, ED-25), with or without the selectors that the sequence has. */
export const isOneEmoji = (joined: string): boolean =>
  RECOMMENDED.test(joined.replaceAll("\uFE0F", "").replaceAll(TEXT_FORM, "$&\uFE0F"));
