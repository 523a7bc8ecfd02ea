import * as fc from 'fast-check'

// What encodings, separators and parsers stumble over comes up often; anything else now and then.
const awkward = fc.constantFrom(
  ':',
  '%',
  '+',
  ' ',
  '&',
  '=',
  '#',
  '?',
  '/',
  '%41',
  '%zz',
  '%',
  '\0',
  '\r\n',
  'é',
  '🔑',
)

/** Any text of whole letters, never empty. */
export const anyText = fc
  .array(
    fc.oneof(
      awkward,
      fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => text !== '')
