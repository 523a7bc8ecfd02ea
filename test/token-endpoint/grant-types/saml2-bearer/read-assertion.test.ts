import { createHash, generateKeyPairSync, sign, type KeyPairKeyObjectResult } from 'node:crypto'
import { noon } from '../../../support/authorization/issue-context'
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
  recipient,
  rsaSha256,
  signedXml as signedAt,
  studio,
  transformXml,
  type Pieces,
  type Signing,
} from '../../../support/saml/assertion'
import { believed, counter } from '../../../support/saml/grant'

const now = noon
const signedXml = (bend: Partial<Pieces> = {}, signing: Partial<Signing> = {}) =>
  signedAt({ now, ...bend }, signing)
const read = (bend: Partial<Pieces> = {}, signing: Partial<Signing> = {}) =>
  believed(encoded(signedXml(bend, signing)))
const data = (attributes: string) =>
  `<saml:SubjectConfirmationData ${attributes}></saml:SubjectConfirmationData>`
const endingAfter = (seconds: number) =>
  data(`NotOnOrAfter="${instant(now + seconds)}" Recipient="${recipient}"`)
const until = (seconds: number) => conditionsXml({ now, until: now + seconds })

const endOf = async (confirmation: number, conditions: number) =>
  (await read({ confirmationData: endingAfter(confirmation), conditions: until(conditions) })).expiresAt - now

describe('a SAML assertion', () => {
  it('is believed in what its issuer signed', async () => {
    expect(await read()).toEqual({
      issuer: studio.entry.issuer,
      subject: 'alice',
      id: '_a1',
      expiresAt: now + 300,
      claims: { mail: ['alice@studio.example'] },
    })
  })

  it.each([
    ['base64url without padding', (text: string) => text],
    ['base64url with padding', (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=')],
    ['plain base64', (text: string) => Buffer.from(text, 'base64url').toString('base64')],
  ])('comes in %s (RFC 7522 2.1)', async (_, spell) => {
    for (const name of ['alice', 'alice?', 'alice??>>~~ÿÿ'])
      expect(
        (
          await believed(
            spell(encoded(signedXml({ name: `<saml:NameID>${name.replaceAll('>', '&gt;')}</saml:NameID>` }))),
          )
        ).subject,
      ).toBe(name)
  })

  it.each([
    '<?xml version="1.0"?>',
    "<?xml version='1.0' encoding='utf-8'?>\n",
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n\r\n',
  ])('may begin with %j and end with a line break', async (declaration) => {
    expect((await believed(encoded(`${declaration}${signedXml()}\n`))).subject).toBe('alice')
  })

  it('is read as XML, in names and references', async () => {
    const name = '<saml:NameID>&lt;Zoë&gt; &amp; "Łódź"</saml:NameID>'
    expect((await read({ name })).subject).toBe('<Zoë> & "Łódź"')
  })

  it('is not believed in what its canonical form leaves out: it is read from that form', async () => {
    const xml = signedXml().replace('<saml:NameID>', '<saml:NameID xmlns:unused="urn:x">')
    expect((await believed(encoded(xml))).subject).toBe('alice')
  })

  const pairs: readonly (readonly [string, KeyPairKeyObjectResult, string, string])[] = [
    ['ecdsa-sha256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256', 'xmlenc#sha256'],
    ['ecdsa-sha384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha384', 'xmldsig-more#sha384'],
    ['ecdsa-sha512', generateKeyPairSync('ec', { namedCurve: 'P-521' }), 'sha512', 'xmlenc#sha512'],
    ['rsa-sha384', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha384', 'xmldsig-more#sha384'],
    ['rsa-sha512', generateKeyPairSync('rsa', { modulusLength: 3072 }), 'sha512', 'xmlenc#sha512'],
  ]
  it.each(pairs)('may be signed with %s', async (algorithm, pair, hash, digestMethod) => {
    const provider = identityProvider('https://other.example', pair)
    const pieces = { now, issuer: provider.entry.issuer }
    const xml = signedXml(pieces, {
      signatureMethod: rsaSha256.replace('rsa-sha256', algorithm),
      digestMethod: `http://www.w3.org/2001/04/${digestMethod}`,
      digestValue: createHash(hash).update(assertionXml(pieces)).digest('base64'),
      sign: (text) => sign(hash, Buffer.from(text), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
    })
    const issuers = [provider.entry]
    expect((await believed(encoded(xml), now, { issuers })).issuer).toBe('https://other.example')
  })

  it('is verified with any key of its issuer, so that keys can be changed', async () => {
    const next = identityProvider(studio.entry.issuer)
    const certificates = [...next.entry.certificates, ...studio.entry.certificates]
    const issuers = [{ issuer: studio.entry.issuer, certificates }]
    for (const { privateKey } of [studio, next])
      expect((await believed(encoded(signedXml({}, { key: privateKey })), now, { issuers })).subject).toBe(
        'alice',
      )
  })

  it('may list inclusive prefixes, as Shibboleth does', async () => {
    const list = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="xs"></ec:InclusiveNamespaces>`
    const bend = { namespaces: ' xmlns:xs="http://www.w3.org/2001/XMLSchema"' }
    const transforms = transformXml(enveloped) + transformXml(exclusive, list)
    expect((await read(bend, { transforms })).subject).toBe('alice')
  })

  it('ignores KeyInfo', async () => {
    const keyInfo = '<ds:KeyInfo><ds:KeyName>mallory</ds:KeyName></ds:KeyInfo>'
    expect((await read({}, { keyInfo })).subject).toBe('alice')
  })

  it('ends with the earlier of its two ends', async () => {
    expect(await endOf(60, 300)).toBe(60)
    expect(await endOf(300, 60)).toBe(60)
  })

  it('needs no end in its conditions', async () => {
    const conditions = `<saml:Conditions>${audienceXml(audience)}</saml:Conditions>`
    expect((await read({ conditions })).expiresAt).toBe(now + 300)
  })

  it('is taken within the tolerance of clocks, and a second later no more', async () => {
    const early = encoded(signedXml({ conditions: conditionsXml({ now, from: now + 30 }) }))
    expect((await believed(early)).subject).toBe('alice')
    const late = encoded(signedXml({ conditions: conditionsXml({ now, until: now - 29, from: now - 60 }) }))
    expect((await believed(late)).subject).toBe('alice')
    await expect(believed(late, now + 1)).rejects.toMatchObject({ reason: 'assertion_expired' })
    await expect(believed(early, now, { clockTolerance: 29 })).rejects.toMatchObject({
      reason: 'saml_not_yet_valid',
    })
  })

  it('needs one confirmation that is for this server, whatever the others are for', async () => {
    const end = `NotOnOrAfter="${instant(now + 60)}"`
    const confirmationData =
      data(`${end} Recipient="https://x.example"`) + data(`${end} Recipient="${recipient}"`)
    expect((await read({ confirmationData })).expiresAt).toBe(now + 60)
  })

  it('may be for several audiences, and for one use', async () => {
    const content = `${audienceXml('https://x.example', audience)}<saml:OneTimeUse></saml:OneTimeUse>`
    expect((await read({ conditions: conditionsXml({ now, content }) })).subject).toBe('alice')
  })

  it.each([
    '2026-02-30T12:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:00:00+01:00',
    '2026-11-20T12:00:00',
    '2026-11-20T12:00Z',
    '+002026-11-20T12:00:00Z',
    ' 2026-11-20T12:00:00Z',
    '',
  ])('does not say %j for an instant', async (text) => {
    const confirmationData = data(`NotOnOrAfter="${text}" Recipient="${recipient}"`)
    await expect(read({ confirmationData })).rejects.toMatchObject({ reason: 'saml_instant_malformed' })
  })

  it('has attributes of any name', async () => {
    const statements =
      attributeXml('__proto__', 'a', 'b') +
      attributeXml('constructor', '') +
      attributeXml('a', '1') +
      attributeXml('a', '2')
    const { claims } = await read({ statements })
    expect(Object.getPrototypeOf(claims)).toBeNull()
    expect(Object.entries(claims)).toEqual([
      ['__proto__', ['a', 'b']],
      ['constructor', ['']],
      ['a', ['1', '2']],
    ])
  })

  it('leaves out values that are no text, and attributes without a name', async () => {
    const statements = `<saml:AttributeStatement><saml:Attribute Name="a"><saml:AttributeValue><saml:b></saml:b></saml:AttributeValue></saml:Attribute><saml:Attribute><saml:AttributeValue>x</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`
    expect(Object.entries((await read({ statements })).claims)).toEqual([['a', []]])
  })

  it('is good once, in whichever spelling it comes, even when it was signed anew', async () => {
    const { present } = counter()
    const xml = signedXml()
    const useOf = async (assertion: string) => {
      const proof = await present(assertion)
      return 'grant' in proof ? proof.grant.oneTimeUse : undefined
    }
    const use = await useOf(encoded(xml))
    expect(use?.refusal()).toMatchObject({ reason: 'assertion_replayed' })
    for (const again of [
      encoded(xml),
      Buffer.from(xml).toString('base64'),
      encoded(`${xml}\n`),
      encoded(signedXml({ statements: '' })),
    ])
      expect((await useOf(again))?.key).toBe(use?.key)
  })
})
