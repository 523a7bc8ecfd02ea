import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as suite from '../../../../lib/index'
import { type Assertion, saml2Bearer, type Saml2BearerOptions } from '../../../../lib/index'
import { ConfigurationError } from '../../../../lib/primitives/options-reader'
import { OAuthError } from '../../../../lib/protocol/oauth-error'
import { noon } from '../../../support/authorization/issue-context'
import { refusalOf } from '../../../support/rooms/refused'
import { audience, encoded, recipient, signedXml, studio } from '../../../support/saml/assertion'
import { forgeries, genuine } from '../../../support/saml/forgeries'
import { believed, counter, options } from '../../../support/saml/grant'

// A method, so that the checker lets a JavaScript host's options through, whatever they are.
const javascript: { create(options: unknown): unknown } = { create: saml2Bearer }

function issuesIn(given: unknown): readonly string[] {
  try {
    javascript.create(given)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues.map(({ path }) => path)
    throw error
  }
  return []
}

const mistakesWith = (bend: object) => issuesIn({ ...options, ...bend })
const withCertificates = (...certificates: readonly unknown[]) =>
  mistakesWith({ issuers: [{ issuer: 'https://a.example', certificates }] })
const pem = (type: 'public' | 'private', pair: ReturnType<typeof pairs.small>) =>
  type === 'public'
    ? pair.publicKey.export({ type: 'spki', format: 'pem' })
    : pair.privateKey.export({ type: 'pkcs8', format: 'pem' })

const pairs = {
  strong: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  small: () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  curve: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  edwards: () => generateKeyPairSync('ed25519'),
}

function missing(): never {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
}

describe('saml2Bearer()', () => {
  it('is the grant type of RFC 7522, with the parameters of its two extra fields', () => {
    expect(saml2Bearer(options)).toMatchObject({
      name: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
      parameters: ['assertion', 'scope'],
    })
  })

  it('lists every mistake with its path', () => {
    expect(issuesIn({ clockTolerance: -1, maximumLifetime: 0, certificate: 'x' })).toEqual([
      'issuers',
      'audience',
      'recipient',
      'resourceOwner',
      'clockTolerance',
      'maximumLifetime',
      'certificate',
    ])
    expect(issuesIn(undefined)).toContain('options')
  })

  it.each<[string, object, readonly string[]]>([
    ['no issuer', { issuers: [] }, ['issuers']],
    [
      'an issuer that is none',
      { issuers: ['x'] },
      ['issuers[0]', 'issuers[0].issuer', 'issuers[0].certificates'],
    ],
    [
      'an issuer without keys',
      { issuers: [{ issuer: 'https://a.example', certificates: [] }] },
      ['issuers[0].certificates'],
    ],
    ['an issuer twice', { issuers: [studio.entry, studio.entry] }, ['issuers[1].issuer']],
    ['a misspelt field', { issuers: [{ ...studio.entry, cert: 'x' }] }, ['issuers[0].cert']],
    ['a recipient that is no URL', { recipient: '/token' }, ['recipient']],
    ['an empty audience', { audience: '' }, ['audience']],
    ['half a second', { clockTolerance: 0.5 }, ['clockTolerance']],
    ['a tolerance of 301 seconds', { clockTolerance: 301 }, ['clockTolerance']],
    ['a lifetime of more than a day', { maximumLifetime: 86_401 }, ['maximumLifetime']],
  ])('refuses %s', (_, bend, paths) => {
    expect(mistakesWith(bend)).toEqual(paths)
  })

  it.each<[string, unknown]>([
    ['text', 'MIIDDTCCAfWgAwIBAgIU'],
    ['a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    ['two in one', studio.entry.certificates.join('').repeat(2)],
    ['a private key', pem('private', pairs.strong())],
    ['RSA of 1024 bits', pem('public', pairs.small())],
    ['a curve of other trades', pem('public', pairs.curve())],
    ['Ed25519', pem('public', pairs.edwards())],
  ])('refuses a certificate that is %s, and says where', (_, certificate) => {
    expect(withCertificates(studio.entry.certificates[0], certificate)).toEqual([
      'issuers[0].certificates[1]',
    ])
  })

  it('names the packages to install when they are missing', () => {
    jest.isolateModules(() => {
      jest.doMock('xml-crypto', missing)
      const fresh: Pick<typeof suite, 'saml2Bearer'> = require('../../../../lib/index')
      expect(() => fresh.saml2Bearer(options)).toThrow('npm install xml-crypto@6 @xmldom/xmldom@0.8')
      jest.dontMock('xml-crypto')
    })
  })

  it('passes the proven claims to the host, and accepts no subject that the host does not know', async () => {
    const asked: Parameters<Saml2BearerOptions['resourceOwner']>[] = []
    const { present } = counter({
      resourceOwner(...question) {
        asked.push(question)
        return undefined
      },
    })
    await expect(present(encoded(signedXml({ now: noon })))).rejects.toMatchObject({
      reason: 'assertion_subject_refused',
    })
    expect(asked).toEqual([
      [
        expect.objectContaining({ subject: 'alice', issuer: studio.entry.issuer, id: '_a1' }),
        expect.objectContaining({ client_id: 'photo-printer' }),
      ],
    ])
  })
})

const read = (file: string) => readFileSync(join(__dirname, 'foreign', file), 'utf8')
const certificates = [read('rsa.pem'), read('ec.pem')]
const issuer = 'https://idp.example/metadata'
const trusted = { issuers: [{ issuer, certificates }], audience, recipient }
const seconds = (instant: string) => Date.parse(instant) / 1000

test.each(['xmlsec1-rsa-sha256', 'xmlsec1-rsa-sha512', 'xmlsec1-ecdsa-sha256'])(
  'takes an assertion that xmlsec1 signed: %s',
  async (file) => {
    const assertion = encoded(read(`${file}.xml`))
    expect(await believed(assertion, seconds('2026-11-20T12:00:30Z'), trusted)).toEqual({
      issuer,
      subject: 'alice@idp.example',
      id: expect.stringMatching(/^_(rsa|ec)\d+$/),
      expiresAt: seconds('2026-11-20T12:05:00Z'),
      claims: { email: ['alice@idp.example'], groups: ['editors & <friends>', 'Łódź\ttab'] },
    })
  },
)

test('takes an assertion that the package saml made', async () => {
  const assertion = encoded(read('auth0-saml.xml'))
  expect(await believed(assertion, seconds('2026-11-20T19:37:00Z'), trusted)).toEqual({
    issuer,
    subject: 'alice@idp.example',
    id: '_9uxsxO59L7NzjbwpYIfPz4C771O8Dit0',
    expiresAt: seconds('2026-11-20T19:46:51Z'),
    claims: { email: ['alice@idp.example'], groups: ['editors', 'readers'] },
  })
})

test.each(['xmlsec1-rsa-sha256', 'auth0-saml'])('refuses it with one letter changed: %s', async (file) => {
  const now = seconds(file === 'auth0-saml' ? '2026-11-20T19:37:00Z' : '2026-11-20T12:00:30Z')
  const changed = read(`${file}.xml`).replace('>alice@idp.example</saml', '>malice@idp.example</saml')
  await expect(believed(encoded(changed), now, trusted)).rejects.toMatchObject({ code: 'invalid_grant' })
})

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

describe.each(forgeries)('%s', (_, reason, assertion) => {
  test(`is refused (${reason}), and leaves the genuine assertion its use`, async () => {
    const { present, seen } = counter()
    expect(await refusalOf(present(assertion))).toEqual({ code: 'invalid_grant', reason })
    expect(seen).toEqual([])
    await expect(present(encoded(genuine))).resolves.toMatchObject({ grant: { subject: 'alice' } })
  })
})
