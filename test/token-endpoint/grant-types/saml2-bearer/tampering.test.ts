import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { OAuthError } from '../../../../lib/protocol/oauth-error'
import { encoded } from '../../../support/saml/assertion'
import { genuine } from '../../../support/saml/forgeries'
import { believed } from '../../../support/saml/grant'

const pieces = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '&',
    '&amp;',
    '&#10;',
    '&#0;',
    '/',
    ' ',
    '\n',
    '\r',
    '\t',
    '=',
    ':',
    'x',
    'é',
    '\u2028',
  ],
  ...[
    '<a>',
    '</a>',
    '<a/>',
    '<!---->',
    '<![CDATA[x]]>',
    '<?x y?>',
    'xmlns="urn:x"',
    ' xmlns:saml="urn:x"',
    ' ID="_a1"',
  ],
  ...(genuine.match(/<[^>]*>/g) ?? []),
]
const tampering = record({
  at: integer({ min: 0, max: genuine.length }),
  without: integer({ min: 0, max: 40 }),
  piece: constantFrom('', ...pieces),
})

test('a document that was tampered with says what its issuer signed, or nothing', async () => {
  const original = await believed(encoded(genuine))
  await assert(
    asyncProperty(array(tampering, { minLength: 1, maxLength: 3 }), async (steps) => {
      const document = steps.reduce(
        (text, { at, without, piece }) => text.slice(0, at) + piece + text.slice(at + without),
        genuine,
      )
      try {
        expect(await believed(encoded(document))).toEqual(original)
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error
        expect(error.code).toBe('invalid_grant')
      }
    }),
    { numRuns: 1000 },
  )
})
