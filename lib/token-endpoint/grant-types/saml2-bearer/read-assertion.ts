import type { KeyObject } from 'node:crypto'
import { refused } from '../../../protocol/refusals'
import type { Assertion } from '../assertion'
import { signatureOf, signedElement } from './signature'
import { type Element, everyElement, parseElement, type XmlLibraries } from './xml-document'

/**
 * RFC 7522 3. The received document only leads to the signature and the keys: the server trusts the signed
 * bytes.
 */
export function readAssertion(
  encoded: string,
  issuers: ReadonlyMap<string, readonly KeyObject[]>,
  expected: Expectation,
  libraries: XmlLibraries,
): Assertion {
  const presented = parseElement(decodeAssertion(encoded), libraries)
  const { id, issuer } = headOf(presented)
  const signature = signatureOf(presented)
  const keys = issuers.get(issuer)
  if (keys === undefined) throw refused('saml_issuer_unknown')
  const signed = signedElement(presented, id, signature, keys, libraries)
  const head = headOf(signed)
  // The keys of one issuer prove nothing for another, nor the signature of one assertion for another.
  if (head.issuer !== issuer || head.id !== id) throw refused('saml_signature_wrong')
  return { ...head, ...bodyOf(signed, expected) }
}

// An xs:ID in the characters that issuers use.
const idGrammar = /^[A-Za-z_][\w.-]{0,255}$/

function headOf(root: Element): { readonly id: string; readonly issuer: string } {
  const id = root.attributes.get('ID')
  // SAML Core 2.6: advice may contain assertions.
  const isAlone = everyElement(root).filter(({ name }) => name.endsWith('Assertion')).length === 1
  if (!isSaml(root, 'Assertion') || root.attributes.get('Version') !== '2.0' || !isAlone)
    throw refused('saml_not_one_assertion')
  const issuer = elementText(onlyChildOf(root, 'Issuer'))
  if (id === undefined || !idGrammar.test(id) || !issuer) throw refused('saml_not_one_assertion')
  return { id, issuer }
}

function bodyOf(root: Element, expected: Expectation): Omit<Assertion, 'issuer' | 'id'> {
  const subject = onlyChildOf(root, 'Subject')
  const name = subject && elementText(onlyChildOf(subject, 'NameID'))
  if (subject === undefined || name === undefined || name.trim() === '') throw refused('saml_subject_missing')
  requireBegun(root, 'IssueInstant', expected)
  const ends = [endOfConfirmation(subject, expected), endOfConditions(root, expected) ?? Infinity]
  return { subject: name, expiresAt: Math.min(...ends), claims: attributesOf(root) }
}

// Characters: a body of 64 KiB.
const maximumLength = 64 * 1024
// RFC 7522 2.1: base64url without padding. Older clients send padding, or plain base64.
const grammar = /^(?:[A-Za-z0-9_-]+|[A-Za-z0-9+/]+)(={0,2})$/

function decodeAssertion(encoded: string): string {
  if (encoded.length > maximumLength) throw refused('saml_too_large')
  const padding = grammar.exec(encoded)?.[1]
  if (padding === undefined || (padding !== '' && encoded.length % 4 !== 0)) throw refused('saml_encoding')
  const bytes = Buffer.from(encoded, 'base64url')
  // No second spelling of the same bytes.
  const body = encoded
    .slice(0, encoded.length - padding.length)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
  if (bytes.toString('base64url') !== body) throw refused('saml_encoding')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw refused('saml_encoding', {}, { cause })
  }
}

interface Expectation {
  readonly audience: string
  readonly recipient: string
  /** Seconds since the epoch. */
  readonly latestStart: number
}

/** RFC 7522 3, items 2 and 5; SAML Core 2.5. Undefined without an end. */
function endOfConditions(assertion: Element, expected: Expectation): number | undefined {
  const conditions = onlyChildOf(assertion, 'Conditions')
  if (conditions === undefined) throw refused('saml_audience_wrong')
  // SAML Core 2.5.1: an unknown condition makes it indeterminate.
  if (
    !conditions.children.every((child) => isSaml(child, 'AudienceRestriction') || isSaml(child, 'OneTimeUse'))
  )
    throw refused('saml_condition_unknown')
  const restrictions = childrenOf(conditions, 'AudienceRestriction')
  // SAML Core 2.5.1.4: one audience of each restriction.
  const isMeant = (restriction: Element) =>
    childrenOf(restriction, 'Audience').some((audience) => elementText(audience) === expected.audience)
  if (restrictions.length === 0 || !restrictions.every(isMeant)) throw refused('saml_audience_wrong')
  requireBegun(conditions, 'NotBefore', expected)
  return instantOf(conditions, 'NotOnOrAfter')
}

function requireBegun(element: Element, attribute: string, { latestStart }: Expectation): void {
  if (!hasBegun(element, attribute, latestStart)) throw refused('saml_not_yet_valid')
}

const hasBegun = (element: Element, attribute: string, latestStart: number) =>
  (instantOf(element, attribute) ?? latestStart) <= latestStart

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/** RFC 7522 3, item 5: one confirmation is enough. */
function endOfConfirmation(subject: Element, { recipient, latestStart }: Expectation): number {
  const ends = childrenOf(subject, 'SubjectConfirmation')
    .filter((confirmation) => confirmation.attributes.get('Method') === bearer)
    .flatMap((confirmation) => childrenOf(confirmation, 'SubjectConfirmationData'))
    .filter((data) => data.attributes.get('Recipient') === recipient)
    .filter((data) => hasBegun(data, 'NotBefore', latestStart))
    .map((data) => instantOf(data, 'NotOnOrAfter'))
    .filter((end) => end !== undefined)
  if (ends.length === 0) throw refused('saml_confirmation_missing')
  return Math.max(...ends)
}

/** No prototype: an attribute may be `__proto__`. */
function attributesOf(assertion: Element): Readonly<Record<string, readonly string[]>> {
  const read: Record<string, string[]> = Object.create(null)
  const attributes = childrenOf(assertion, 'AttributeStatement').flatMap((each) =>
    childrenOf(each, 'Attribute'),
  )
  for (const attribute of attributes) {
    const name = attribute.attributes.get('Name')
    if (name !== undefined) (read[name] ??= []).push(...valuesOf(attribute))
  }
  return read
}

const valuesOf = (attribute: Element): readonly string[] =>
  childrenOf(attribute, 'AttributeValue')
    .map(elementText)
    .filter((text) => text !== undefined)

const namespace = 'urn:oasis:names:tc:SAML:2.0:assertion'

const isSaml = (element: Element, name: string): boolean =>
  element.namespace === namespace && element.name === name

const childrenOf = (element: Element, name: string): readonly Element[] =>
  element.children.filter((child) => isSaml(child, name))

function onlyChildOf(element: Element, name: string): Element | undefined {
  const found = childrenOf(element, name)
  return found.length === 1 ? found[0] : undefined
}

const elementText = (element: Element | undefined): string | undefined =>
  element === undefined || element.children.length > 0 ? undefined : element.text

// SAML Core 1.3.3: UTC.
const instantGrammar = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z$/

function instantOf(element: Element, attribute: string): number | undefined {
  const text = element.attributes.get(attribute)
  if (text === undefined) return undefined
  const toTheSecond = instantGrammar.exec(text)?.[1]
  const time = Date.parse(`${toTheSecond}Z`)
  // `Date.parse` reads 30 February as a day of March.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${toTheSecond}.`))
    throw refused('saml_instant_malformed')
  return time / 1000
}
