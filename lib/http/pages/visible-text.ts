// Tab and line breaks are white space in HTML. Other control characters, and characters that reorder text,
// look like a gap or stay unseen have no place in a name: a mark replaces each.
const deceptive =
  /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B\u2028\u2029\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF9-\uFFFC\u{16FE4}\u{1D159}]/gu

// What else a font may ignore: variation selectors, tag characters, U+034F. Emoji and several scripts have
// them, so they go without a mark. At most a picture changes: a heart loses its colour, a flag of tags is
// black.
const ignorable = /(?![\u200C\u200D])\p{Default_Ignorable_Code_Point}/gu

const joiningScripts = ['Arab', 'Syrc', 'Mong', 'Nkoo', 'Mand', 'Adlm', 'Rohg']
const conjunctScripts = [
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
  'Khmr',
  'Mymr',
]
const letter = `[${[...joiningScripts, ...conjunctScripts].map((script) => `\\p{scx=${script}}`).join('')}]`
const picture = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]'

// RFC 5892 A.1 and A.2: a joiner (U+200C, U+200D) shows where it joins or parts letters of some scripts, and
// U+200D where it joins pictures. Looks at the script in place of each letter's joining type.
const idleJoiner = new RegExp(
  `(?<!${letter})\\u200C|\\u200C(?!${letter})|(?<!${letter}|${picture})\\u200D|(?<=${picture})\\u200D(?!${picture})`,
  'gu',
)

const mark = '\uFFFD'

// Most names and descriptions: everything in them can be seen.
const printable = /^[\x20-\x7E\t\n\r]*$/

/**
 * Drops characters that a font may ignore, and puts U+FFFD for those that reorder the text or leave a gap:
 * else a name could look like another name or a part of the page.
 */
export function visibleText(text: string): string {
  if (printable.test(text)) return text
  return text
    .replace(deceptive, mark)
    .replace(ignorable, '')
    .replace(/([\u200C\u200D])[\u200C\u200D]+/g, '$1')
    .replace(idleJoiner, '')
}

/** Undefined if only marks, joiners, spaces and invisible characters are left. */
export function visibleName(name: string | undefined): string | undefined {
  const visible = visibleText(name ?? '').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(visible.replaceAll(mark, '')) ? visible : undefined
}
