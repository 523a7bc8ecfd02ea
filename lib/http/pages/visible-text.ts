// Tab and line breaks are plain white space in HTML. Other control characters, characters that reorder the text around
// them, and characters that are seen as a gap or not at all have no place in a name. Where one stands, a mark says so.
const deceptive =
  /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B\u2028\u2029\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF9-\uFFFC\u{16FE4}\u{1D159}]/gu

// What else a font may ignore: variation selectors, tag characters, U+034F. Emoji and several scripts have them, so they
// go without a mark. That changes at most a picture: a heart loses its colour, and a flag of tags is black.
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

// RFC 5892 A.1 and A.2: a joiner (U+200C, U+200D) is seen where it joins or parts letters of some scripts, and U+200D
// where it joins pictures. These rules look at the script in place of the joining type of each letter.
const idleJoiner = new RegExp(
  `(?<!${letter})\\u200C|\\u200C(?!${letter})|(?<!${letter}|${picture})\\u200D|(?<=${picture})\\u200D(?!${picture})`,
  'gu',
)

const mark = '\uFFFD'

// Everything in such a text can be seen. Most names and descriptions are such texts.
const printable = /^[\x20-\x7E\t\n\r]*$/

/**
 * What a person can see of a text. Leaves out characters that a font may ignore, and puts U+FFFD in the place of those
 * that reorder the text or leave a gap: otherwise, a name could look like another name or like part of the page.
 */
export function visibleText(text: string): string {
  if (printable.test(text)) return text
  return text
    .replace(deceptive, mark)
    .replace(ignorable, '')
    .replace(/([\u200C\u200D])[\u200C\u200D]+/g, '$1')
    .replace(idleJoiner, '')
}

/** What a person can see of a name; undefined for a name of marks, joiners, spaces and invisible characters alone. */
export function visibleName(name: string | undefined): string | undefined {
  const visible = visibleText(name ?? '').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(visible.replaceAll(mark, '')) ? visible : undefined
}
