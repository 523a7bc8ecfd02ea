import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { saml2Bearer, type Saml2BearerOptions } from '../../lib/paths/saml'
import type { Assertion } from '../../lib/paths/grants'
import { noon } from '../support/noon'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import {
  assertionXml,
  attributeXml,
  audience,
  audienceXml,
  conditionsXml,
  encoded,
  enveloped,
  exclusive,
  identityProvider,
  instant,
  museum,
  recipient,
  rsaSha256,
  signedXml as signedAt,
  studio,
  transformXml,
  type Pieces,
  type Signing,
} from '../support/saml/assertion'
import * as forgeries from './saml-bearer/forgeries'
import { options } from '../support/saml/grant'

const grant_type = 'urn:ietf:params:oauth:grant-type:saml2-bearer'
const bearer = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
const asking = (assertion: string) => ({ grant_type, assertion, scope: 'photos:read' })

const owners = new Map([
  [`alice of ${studio.entry.issuer}`, 'alice'],
  [`alice of ${museum.entry.issuer}`, 'another alice'],
])
const grantType = saml2Bearer({
  ...options,
  resourceOwner: ({ subject, issuer }) => owners.get(`${subject} of ${issuer}`),
})
const printer = bent(photoBook, { grant_types: ['authorization_code', grant_type] })
const clients = [bearer.registration, printer.registration]

const open = (stage: SetStage) => stage({ plugins: [grantType], clients })
const fresh = ({ clock }: Stage, bend: Parameters<typeof signedAt>[0] = {}) =>
  signedAt({ now: Math.floor(clock.read() / 1000), ...bend })

describeOnStores('The SAML 2.0 bearer grant', (stage) => {
  test('distinguishes two owners of one name by their issuers [saml-15]', async () => {
    const place = open(stage)
    const xml = fresh(place, { issuer: museum.entry.issuer })
    expect(refusalOf(await place.flow.request(bearer, asking(encoded(xml))))).toBe('400 invalid_grant')
    const now = Math.floor(place.clock.read() / 1000)
    const genuine = signedAt({ now, issuer: museum.entry.issuer }, { key: museum.privateKey })
    const { accessToken } = tokensOf(await place.flow.request(bearer, asking(encoded(genuine))))
    expect((await place.flow.photos(accessToken)).body).toMatchObject({ subject: 'another alice' })
  })

  test('takes an assertion once, for no refresh token, whichever client sends it again [saml-13]', async () => {
    const place = open(stage)
    const xml = fresh(place)
    const { refreshToken } = tokensOf(await place.flow.request(bearer, asking(encoded(xml))))
    expect(refreshToken).toBe('')
    for (const client of [bearer, printer])
      for (const again of [xml, `${xml}\n`, fresh(place, { statements: '' })].map(encoded))
        expect(refusalOf(await place.flow.request(client, asking(again)))).toBe('400 invalid_grant')
    tokensOf(await place.flow.request(bearer, asking(encoded(fresh(place, { id: '_a2' })))))
  })

  test('of 20 parallel requests with one assertion exactly one wins [saml-14]', async () => {
    const place = open(stage)
    const request = asking(encoded(fresh(place)))
    const responses = await Promise.all(Array.from({ length: 20 }, () => place.flow.request(bearer, request)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
  })

  test('a refusal leaves the assertion unused, and has one description for all reasons [saml-16]', async () => {
    const place = open(stage)
    const xml = fresh(place)
    const request = asking(encoded(xml))
    const refused = async (bend: object) =>
      refusalOf(await place.flow.request(bearer, { ...request, ...bend }))
    expect(await refused({ assertion: undefined })).toBe('400 invalid_request')
    expect(await refused({ scope: 'reports:write' })).toBe('400 invalid_scope')
    const forged = [
      xml.replace('>alice<', '>bob<'),
      xml.replace('>alice<', '>al<!---->ice<'),
      `<a>${xml}</a>`,
    ]
    const answers = await Promise.all(
      [...forged.map(encoded), 'x'].map((assertion) => place.flow.request(bearer, asking(assertion))),
    )
    for (const { body } of answers)
      expect(body).toEqual({ error: 'invalid_grant', error_description: 'The assertion is not valid.' })
    tokensOf(await place.flow.request(bearer, request))
  })

  test('ends with the assertion, give or take the tolerance', async () => {
    const place = open(stage)
    const assertion = encoded(fresh(place))
    place.clock.advance(331)
    expect(refusalOf(await place.flow.request(bearer, asking(assertion)))).toBe('400 invalid_grant')
  })
})

/** A server at noon, or at another time, and a client that presents assertions to it. */
function desk(bend: Partial<Saml2BearerOptions> = {}, now = noon) {
  const seen: Assertion[] = []
  const resourceOwner: Saml2BearerOptions['resourceOwner'] = (assertion) => {
    seen.push(assertion)
    return assertion.subject
  }
  const grantTypes = [saml2Bearer({ ...options, resourceOwner, ...bend })]
  const { flow, failures } = setStage({
    plugins: [...grantTypes],
    clients: [bearer.registration],
    clock: () => now * 1000,
  })
  return { seen, failures, present: (assertion: string) => flow.request(bearer, asking(assertion)) }
}

/** What the host is told of an assertion, or the reason of its refusal. */
async function verdictOn(assertion: string, bend: Partial<Saml2BearerOptions> = {}, now = noon) {
  const { present, seen, failures } = desk(bend, now)
  const response = await present(assertion)
  if (response.status === 200) return seen[0]
  expect(refusalOf(response)).toBe('400 invalid_grant')
  expect(seen).toEqual([])
  return failures[0]?.reason
}

const signedXml = (bend: Partial<Pieces> = {}, signing: Partial<Signing> = {}) =>
  signedAt({ now: noon, ...bend }, signing)
const alice = {
  issuer: studio.entry.issuer,
  subject: 'alice',
  id: '_a1',
  expiresAt: noon + 300,
  claims: { mail: ['alice@studio.example'] },
}
const data = (attributes: string) =>
  `<saml:SubjectConfirmationData ${attributes}></saml:SubjectConfirmationData>`
const endingAfter = (seconds: number) =>
  data(`NotOnOrAfter="${instant(noon + seconds)}" Recipient="${recipient}"`)
const until = (seconds: number) => conditionsXml({ now: noon, until: noon + seconds })
const genuine = encoded(forgeries.genuine)

describe('A SAML assertion is believed in what its issuer signed:', () => {
  const strange = 'alice??>>~~ÿÿ'
  const named = encoded(signedXml({ name: '<saml:NameID>alice??&gt;&gt;~~ÿÿ</saml:NameID>' }))
  const list = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="xs"></ec:InclusiveNamespaces>`
  const xs = { namespaces: ' xmlns:xs="http://www.w3.org/2001/XMLSchema"' }
  const end = `NotOnOrAfter="${instant(noon + 60)}"`
  const both = data(`${end} Recipient="https://x.example"`) + data(`${end} Recipient="${recipient}"`)
  const audiences = `${audienceXml('https://x.example', audience)}<saml:OneTimeUse></saml:OneTimeUse>`
  const odd =
    attributeXml('__proto__', 'a', 'b') +
    attributeXml('constructor', '') +
    attributeXml('a', '1') +
    attributeXml('a', '2')
  const empty =
    '<saml:AttributeStatement><saml:Attribute Name="a"><saml:AttributeValue><saml:b></saml:b></saml:AttributeValue></saml:Attribute><saml:Attribute><saml:AttributeValue>x</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>'

  test.each<[string, string, object]>([
    ['in base64url without padding (RFC 7522 2.1)', named, { subject: strange }],
    ['with padding', named.padEnd(Math.ceil(named.length / 4) * 4, '='), { subject: strange }],
    ['behind a declaration', encoded(`<?xml version='1.0' encoding='utf-8'?>\n${signedXml()}\n`), alice],
    [
      'with references to letters',
      encoded(signedXml({ name: '<saml:NameID>&lt;Zoë&gt; &amp; "Łódź"</saml:NameID>' })),
      { subject: '<Zoë> & "Łódź"' },
    ],
    [
      'beside what its canonical form leaves out',
      encoded(signedXml().replace('<saml:NameID>', '<saml:NameID xmlns:unused="urn:x">')),
      alice,
    ],
    [
      'with inclusive prefixes, as Shibboleth lists them',
      encoded(signedXml(xs, { transforms: transformXml(enveloped) + transformXml(exclusive, list) })),
      alice,
    ],
    [
      'with a KeyInfo that nobody reads',
      encoded(signedXml({}, { keyInfo: '<ds:KeyInfo><ds:KeyName>mallory</ds:KeyName></ds:KeyInfo>' })),
      alice,
    ],
    [
      'until the end of its confirmation',
      encoded(signedXml({ confirmationData: endingAfter(60), conditions: until(300) })),
      { expiresAt: noon + 60 },
    ],
    [
      'until the end of its conditions',
      encoded(signedXml({ confirmationData: endingAfter(300), conditions: until(60) })),
      { expiresAt: noon + 60 },
    ],
    [
      'with one confirmation for this server among others',
      encoded(signedXml({ confirmationData: both })),
      { expiresAt: noon + 60 },
    ],
    [
      'for several audiences, and for one use',
      encoded(signedXml({ conditions: conditionsXml({ now: noon, content: audiences }) })),
      alice,
    ],
    [
      'with attributes of any name',
      encoded(signedXml({ statements: odd })),
      { claims: JSON.parse('{"__proto__":["a","b"],"constructor":[""],"a":["1","2"]}') },
    ],
    ['without values that are no text', encoded(signedXml({ statements: empty })), { claims: { a: [] } }],
  ])('%s', async (_how, assertion, expected) => {
    expect(await verdictOn(assertion)).toEqual({ ...alice, claims: expect.anything(), ...expected })
  })

  const onCurve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
  const { privateKey } = museum
  const ofMuseum = { privateKey, publicKey: createPublicKey(privateKey) }
  test.each([
    ['ecdsa-sha256', onCurve('P-256'), 'sha256', 'xmlenc#sha256'],
    ['ecdsa-sha384', onCurve('P-384'), 'sha384', 'xmldsig-more#sha384'],
    ['ecdsa-sha512', onCurve('P-521'), 'sha512', 'xmlenc#sha512'],
    ['rsa-sha384', ofMuseum, 'sha384', 'xmldsig-more#sha384'],
    ['rsa-sha512', ofMuseum, 'sha512', 'xmlenc#sha512'],
  ])('signed with %s', async (algorithm, pair, hash, digestMethod) => {
    const provider = identityProvider('https://other.example', pair)
    const pieces = { now: noon, issuer: provider.entry.issuer }
    const xml = signedXml(pieces, {
      signatureMethod: rsaSha256.replace('rsa-sha256', algorithm),
      digestMethod: `http://www.w3.org/2001/04/${digestMethod}`,
      digestValue: createHash(hash).update(assertionXml(pieces)).digest('base64'),
      sign: (text) => sign(hash, Buffer.from(text), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
    })
    expect(await verdictOn(encoded(xml), { issuers: [provider.entry] })).toEqual({
      ...alice,
      issuer: 'https://other.example',
    })
  })

  test('signed with any key of its issuer, so that keys can be changed', async () => {
    const certificates = [...museum.entry.certificates, ...studio.entry.certificates]
    const issuers = [{ issuer: studio.entry.issuer, certificates }]
    for (const { privateKey: key } of [studio, museum])
      expect(await verdictOn(encoded(signedXml({}, { key })), { issuers })).toEqual(alice)
  })

  test('within the tolerance of clocks, and not a second longer', async () => {
    const early = encoded(signedXml({ conditions: conditionsXml({ now: noon, from: noon + 30 }) }))
    const late = encoded(
      signedXml({ conditions: conditionsXml({ now: noon, until: noon - 29, from: noon - 60 }) }),
    )
    expect([
      await verdictOn(early),
      await verdictOn(early, { clockTolerance: 29 }),
      await verdictOn(late),
      await verdictOn(late, {}, noon + 1),
    ]).toEqual([alice, 'saml_not_yet_valid', { ...alice, expiresAt: noon - 29 }, 'assertion_expired'])
  })
})

const foreign = (file: string) => readFileSync(join(__dirname, '../support/saml/foreign', file), 'utf8')
const issuer = 'https://idp.example/metadata'
const trusted = { issuers: [{ issuer, certificates: [foreign('rsa.pem'), foreign('ec.pem')] }] }
const seconds = (time: string) => Date.parse(time) / 1000
const ofXmlsec = {
  issuer,
  subject: 'alice@idp.example',
  id: expect.stringMatching(/^_(rsa|ec)\d+$/),
  expiresAt: seconds('2026-11-20T12:05:00Z'),
  claims: { email: ['alice@idp.example'], groups: ['editors & <friends>', 'Łódź\ttab'] },
}

test.each([
  ['xmlsec1-rsa-sha256', '2026-11-20T12:00:30Z', ofXmlsec],
  ['xmlsec1-rsa-sha512', '2026-11-20T12:00:30Z', ofXmlsec],
  ['xmlsec1-ecdsa-sha256', '2026-11-20T12:00:30Z', ofXmlsec],
  [
    'auth0-saml',
    '2026-11-20T19:37:00Z',
    {
      issuer,
      subject: 'alice@idp.example',
      id: '_9uxsxO59L7NzjbwpYIfPz4C771O8Dit0',
      expiresAt: seconds('2026-11-20T19:46:51Z'),
      claims: { email: ['alice@idp.example'], groups: ['editors', 'readers'] },
    },
  ],
])(
  'The assertion that %s signed is believed, and with one letter changed it is not',
  async (file, time, said) => {
    const xml = foreign(`${file}.xml`)
    expect(await verdictOn(encoded(xml), trusted, seconds(time))).toEqual(said)
    const changed = xml.replace('>alice@idp.example</saml', '>malice@idp.example</saml')
    expect(await verdictOn(encoded(changed), trusted, seconds(time))).toBe('saml_signature_wrong')
  },
)

describe('An attacker who has seen a genuine assertion gets nothing, and leaves it its use:', () => {
  test.each<[string, readonly forgeries.Forgery[]]>([
    ['by an assertion around a signed one, or beside it [saml-1]', forgeries.wrapped],
    [
      'by a signature of something else, or of another form [saml-2, saml-3, saml-4, saml-7]',
      forgeries.otherSignatures,
    ],
    ['by another key or a weak algorithm [saml-8, saml-9, saml-11]', forgeries.otherKeys],
    ['by changes to what was signed', forgeries.altered],
    ['by comments, entities, other encodings and masses of XML [saml-5, saml-6, saml-12]', forgeries.notXml],
    ['by an encoding of its own', forgeries.notEncoded],
    ['by an assertion of another time, audience or subject [saml-10]', forgeries.forAnotherRecipient],
  ])('%s', async (_by, documents) => {
    const { present, seen, failures } = desk()
    for (const [, , assertion] of documents)
      expect(refusalOf(await present(assertion))).toMatch(/^400 invalid_(grant|request)$/)
    expect(failures.map(({ reason }, index) => [documents[index]?.[0], reason])).toEqual(
      documents.map(([title, reason]) => [title, reason]),
    )
    expect(seen).toEqual([])
    tokensOf(await present(genuine))
  })

  test('by an instant that is none, or in another form', async () => {
    for (const text of [
      '2026-02-30T12:00:00Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T12:00:00+01:00',
      '2026-11-20T12:00:00',
      '+002026-11-20T12:00:00Z',
      '',
    ]) {
      const confirmationData = data(`NotOnOrAfter="${text}" Recipient="${recipient}"`)
      const xml = signedXml({ confirmationData })
      expect([text, await verdictOn(encoded(xml))]).toEqual([text, 'saml_instant_malformed'])
    }
  })

  test('by any change of a few letters: the server reads what was signed, or refuses [saml-17]', async () => {
    const marks = [
      ...Array.from('<>"\'&/ \n\r\t=:xé\u2028'),
      '&amp;',
      '&#10;',
      '&#0;',
      '<a>',
      '</a>',
      '<a/>',
      '<!---->',
    ]
    const words = ['<![CDATA[x]]>', '<?x y?>', 'xmlns="urn:x"', ' xmlns:saml="urn:x"', ' ID="_a1"']
    const pieces = ['', ...marks, ...words, ...(forgeries.genuine.match(/<[^>]*>/g) ?? [])]
    const tampering = record({
      at: integer({ min: 0, max: forgeries.genuine.length }),
      without: integer({ min: 0, max: 40 }),
      piece: constantFrom(...pieces),
    })
    const { present, seen } = desk()
    await assert(
      asyncProperty(array(tampering, { minLength: 1, maxLength: 3 }), async (steps) => {
        const document = steps.reduce(
          (text, { at, without, piece }) => text.slice(0, at) + piece + text.slice(at + without),
          forgeries.genuine,
        )
        await present(encoded(document))
        for (const said of seen.splice(0)) expect(said).toEqual(alice)
      }),
      { numRuns: 80, seed: 17 },
    )
    await present(genuine)
    expect(seen).toEqual([alice])
  })
})

test('The host gets the proven claims and the client, and accepts no subject that it does not know', async () => {
  const asked: unknown[] = []
  const { present, failures } = desk({
    resourceOwner: (...question) => void asked.push(question),
  })
  expect(refusalOf(await present(genuine))).toBe('400 invalid_grant')
  expect(failures).toMatchObject([{ reason: 'assertion_subject_refused' }])
  expect(asked).toEqual([[alice, expect.objectContaining({ client_id: bearer.registration.client_id })]])
})
