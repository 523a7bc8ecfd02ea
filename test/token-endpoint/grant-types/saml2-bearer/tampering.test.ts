import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import type { Assertion } from '../../../../lib/index'
import { OAuthError } from '../../../../lib/protocol/oauth-error'
import { encoded } from '../../../support/saml/assertion'
import { genuine } from '../../../support/saml/forgeries'
import { believed } from '../../../support/saml/grant'

const marks = [
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
]
const words = [
  '<a>',
  '</a>',
  '<a/>',
  '<!---->',
  '<![CDATA[x]]>',
  '<?x y?>',
  'xmlns="urn:x"',
  ' xmlns:saml="urn:x"',
  ' ID="_a1"',
]
const pieces = ['', ...marks, ...words, ...(genuine.match(/<[^>]*>/g) ?? [])]
const tampering = record({
  at: integer({ min: 0, max: genuine.length }),
  without: integer({ min: 0, max: 40 }),
  piece: constantFrom(...pieces),
})

/** What is believed of a document; undefined when it is refused as it must be. */
async function reading(document: string): Promise<Assertion | undefined> {
  try {
    return await believed(encoded(document))
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_grant') return undefined
    throw error
  }
}

test('a document that was tampered with says what its issuer signed, or nothing [saml-17]', async () => {
  const original = await believed(encoded(genuine))
  await assert(
    asyncProperty(array(tampering, { minLength: 1, maxLength: 3 }), async (steps) => {
      const document = steps.reduce(
        (text, { at, without, piece }) => text.slice(0, at) + piece + text.slice(at + without),
        genuine,
      )
      expect([undefined, original]).toContainEqual(await reading(document))
    }),
    { numRuns: 1000 },
  )
})
