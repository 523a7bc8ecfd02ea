// Control characters except white space, and what reorders text, looks like a gap or stays unseen, have no
// place in a name: a mark replaces each.
const deceptive =
  /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B\u2028\u2029\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF9-\uFFFC\u{16FE4}\u{1D159}]/gu

// What else a font may ignore: variation selectors, tag characters, U+034F. No mark, as emoji and several
// scripts have them: at most, a heart loses its colour, a flag of tags is black.
const ignorable = /(?![\u200C\u200D])\p{Default_Ignorable_Code_Point}/gu

const joiningScripts = ['Arab', 'Syrc', 'Mong', 'Nkoo', 'Mand', 'Adlm', 'Rohg']
const conjunctScripts = 'Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'.split(' ')
const letter = `[${[...joiningScripts, ...conjunctScripts].map((script) => `\\p{scx=${script}}`).join('')}]`
const picture = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]'

// RFC 5892 A.1 and A.2: joiners (U+200C, U+200D) show in some scripts, U+200D between pictures. Looks at the
// script, not at each letter's joining type.
const idleJoiner = new RegExp(
  `(?<!${letter})\\u200C|\\u200C(?!${letter})|(?<!${letter}|${picture})\\u200D|(?<=${picture})\\u200D(?!${picture})`,
  'gu',
)

const mark = '\uFFFD'

// Most names and descriptions.
const printable = /^[\x20-\x7E\t\n\r]*$/

/** Else a name could look like another name or a part of the page. */
export function visibleText(text: string): string {
  if (printable.test(text)) return text
  return text
    .replace(deceptive, mark)
    .replace(ignorable, '')
    .replace(/([\u200C\u200D])[\u200C\u200D]+/g, '$1')
    .replace(idleJoiner, '')
}

export function visibleName(name: string | undefined): string | undefined {
  const visible = visibleText(name ?? '').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(visible.replaceAll(mark, '')) ? visible : undefined
}
