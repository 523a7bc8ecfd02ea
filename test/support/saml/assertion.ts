import { createHash, sign, type KeyObject } from 'node:crypto'
import type { SamlIssuer } from '../../../lib/paths/saml'
import { rsaKeyPair } from '../rsa-keys'

export const audience = 'https://server.example/saml'
export const recipient = 'https://server.example/token'
export const saml = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const dsig = 'http://www.w3.org/2000/09/xmldsig#'
export const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const enveloped = `${dsig}enveloped-signature`
const more = 'http://www.w3.org/2001/04/xmldsig-more#'
const bearerMethod = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/** A source of assertions: its entry in the options, and the key that only it has. */
export interface IdentityProvider {
  readonly entry: SamlIssuer
  readonly privateKey: KeyObject
}

export function identityProvider(issuer: string, { publicKey, privateKey } = rsaKeyPair()): IdentityProvider {
  const certificates = [publicKey.export({ type: 'spki', format: 'pem' }).toString()]
  return { entry: { issuer, certificates }, privateKey }
}

export const studio = identityProvider('https://studio.example/metadata')
export const museum = identityProvider('https://museum.example/metadata')

/** Seconds since the epoch as xs:dateTime. */
export const instant = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** What an assertion is made of, piece by piece in canonical XML. */
export interface Pieces {
  readonly now: number
  readonly id: string
  readonly version: string
  readonly issuer: string
  readonly name: string
  readonly subject: string
  readonly confirmationData: string
  readonly conditions: string
  readonly statements: string
  readonly namespaces: string
  readonly rootAttributes: string
}

/** An assertion without a signature, in canonical form, so that a signature over it needs no library. */
export function assertionXml(bend: Partial<Pieces> = {}): string {
  const { now = Math.floor(Date.now() / 1000), id = '_a1', issuer = studio.entry.issuer } = bend
  const end = instant(now + 300)
  const {
    confirmationData = `<saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${recipient}"></saml:SubjectConfirmationData>`,
    name = '<saml:NameID>alice</saml:NameID>',
    subject = `<saml:Subject>${name}<saml:SubjectConfirmation Method="${bearerMethod}">${confirmationData}</saml:SubjectConfirmation></saml:Subject>`,
    conditions = conditionsXml({ now }),
    statements = attributeXml('mail', 'alice@studio.example'),
    rootAttributes = ` ID="${id}" IssueInstant="${instant(now)}" Version="${bend.version ?? '2.0'}"`,
    namespaces = '',
  } = bend
  return `<saml:Assertion xmlns:saml="${saml}"${namespaces}${rootAttributes}><saml:Issuer>${issuer}</saml:Issuer>${subject}${conditions}${statements}</saml:Assertion>`
}

export function conditionsXml({
  now,
  content = audienceXml(audience),
  from = now - 5,
  until = now + 300,
}: {
  readonly now: number
  readonly content?: string
  readonly from?: number
  readonly until?: number
}): string {
  return `<saml:Conditions NotBefore="${instant(from)}" NotOnOrAfter="${instant(until)}">${content}</saml:Conditions>`
}

export const audienceXml = (...audiences: readonly string[]): string =>
  `<saml:AudienceRestriction>${audiences.map((one) => `<saml:Audience>${one}</saml:Audience>`).join('')}</saml:AudienceRestriction>`

export const attributeXml = (name: string, ...values: readonly string[]): string =>
  `<saml:AttributeStatement><saml:Attribute Name="${name}">${values.map((one) => `<saml:AttributeValue>${one}</saml:AttributeValue>`).join('')}</saml:Attribute></saml:AttributeStatement>`

/** How a signature is made; what is bent is bent before it is signed, so that it is genuine all the same. */
export interface Signing {
  readonly key: KeyObject
  readonly uri: string
  readonly canonicalization: string
  readonly signatureMethod: string
  readonly transforms: string
  readonly digestMethod: string
  readonly digestValue: string
  readonly references: (reference: string) => string
  readonly keyInfo: string
  readonly sign: (signedInfo: string) => Buffer
}

export const rsaSha256 = `${more}rsa-sha256`
export const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256'
export const transformXml = (algorithm: string, content = ''): string =>
  `<ds:Transform Algorithm="${algorithm}">${content}</ds:Transform>`

/** The signature over a canonical element, as the text of a `ds:Signature`. */
export function signatureXml(canonical: string, bend: Partial<Signing> = {}): string {
  const {
    key = studio.privateKey,
    uri = `#${/ ID="([^"]*)"/.exec(canonical)?.[1]}`,
    canonicalization = exclusive,
    signatureMethod = rsaSha256,
    transforms = transformXml(enveloped) + transformXml(exclusive),
    digestMethod = sha256,
    digestValue = createHash('sha256').update(canonical).digest('base64'),
    references = (one) => one,
    keyInfo = '',
    sign: make = (text) => sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }),
  } = bend
  const reference = references(
    `<ds:Reference URI="${uri}"><ds:Transforms>${transforms}</ds:Transforms><ds:DigestMethod Algorithm="${digestMethod}"></ds:DigestMethod><ds:DigestValue>${digestValue}</ds:DigestValue></ds:Reference>`,
  )
  const content = `<ds:CanonicalizationMethod Algorithm="${canonicalization}"></ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="${signatureMethod}"></ds:SignatureMethod>${reference}</ds:SignedInfo>`
  const value = make(`<ds:SignedInfo xmlns:ds="${dsig}">${content}`).toString('base64')
  return `<ds:Signature xmlns:ds="${dsig}"><ds:SignedInfo>${content}<ds:SignatureValue>${value}</ds:SignatureValue>${keyInfo}</ds:Signature>`
}

/** Puts a signature where SAML has it: behind the issuer. */
export const withSignature = (assertion: string, signature: string): string =>
  assertion.replace('</saml:Issuer>', () => `</saml:Issuer>${signature}`)

/** A signed assertion as XML. */
export function signedXml(bend: Partial<Pieces> = {}, signing: Partial<Signing> = {}): string {
  const assertion = assertionXml(bend)
  return withSignature(assertion, signatureXml(assertion, signing))
}

/** As the parameter `assertion` (RFC 7522 2.1). */
export const encoded = (xml: string | Buffer): string => Buffer.from(xml).toString('base64url')
